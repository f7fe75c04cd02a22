import { Context } from '@temporalio/activity';
import type { Activities, JobRef, UnitInput, UnitResult } from '../../activities';

type Own = Omit<Activities, 'runUnit'>;

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
        return await work(input);
      } finally {
        clearInterval(timer);
      }
    };
  return {
    runUnit: (input) => {
      const context = Context.current();
      return activities.runUnit(input, { heartbeat: () => context.heartbeat(), stop: context.cancellationSignal });
    },
    begin: alive(activities.begin),
    claimDue: alive(activities.claimDue),
    recover: alive(activities.recover),
    recordCancel: alive(activities.recordCancel),
    settle: alive(activities.settle),
    finalize: alive(activities.finalize),
  };
}
