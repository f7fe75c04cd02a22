import { Context } from '@temporalio/activity';
import type { Activities, JobRef, UnitInput, UnitResult } from '../../activities';

type Own = Omit<Activities, 'runUnit'>;

/** What is said of times to come goes with what the clock here shows: the workflow's is another one. */
function timed<O>(answer: O): O {
  if (typeof answer !== 'object' || answer === null || !('nextDue' in answer)) return answer;
  return { ...answer, at: Date.now() };
}

/**
 * The activities as Temporal calls them. All of them heartbeat, the short ones too: a worker that dies in one is
 * noticed in seconds, not at the end of its start-to-close.
 */
export function temporalActivities(
  activities: Activities,
  heartbeatMs: number,
): Own & { runUnit(input: UnitInput): Promise<UnitResult> } {
  const alive =
    <I extends JobRef, O>(work: (input: I) => Promise<O>) =>
    async (input: I): Promise<O> => {
      const context = Context.current();
      const timer = setInterval(() => context.heartbeat(), heartbeatMs);
      try {
        return timed(await work(input));
      } finally {
        clearInterval(timer);
      }
    };
  return {
    runUnit: async (input) => {
      const context = Context.current();
      const delivery = { heartbeat: () => context.heartbeat(), stop: context.cancellationSignal };
      return timed(await activities.runUnit(input, delivery));
    },
    begin: alive(activities.begin),
    claimDue: alive(activities.claimDue),
    recover: alive(activities.recover),
    recordCancel: alive(activities.recordCancel),
    settle: alive(activities.settle),
    finalize: alive(activities.finalize),
  };
}
