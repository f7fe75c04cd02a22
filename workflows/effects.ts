import {
  ActivityCancellationType,
  CancellationScope,
  isCancellation,
  proxyActivities,
  scheduleActivity,
  sleep,
} from '@temporalio/workflow';
import type { Activities, UnitInput, UnitResult } from '../activities/types';
import { decode, encode, size } from '../model/index-set';
import { toEnd, toFound, type Lane, type PaceEffects, type PaceState, type UnitEnd } from '../model/pace';
import type { JobState } from '../model/states';
import { dueHere, type Due } from './due-here';
import { workflowNow } from './now';
import type { JobWorkflowInput } from './types';

/**
 * The job's own activities: short calls of the store. They are tried for ever, because a job never gives up on its
 * store; a worker that dies in one is noticed by its heartbeat.
 */
function ownActivities(input: JobWorkflowInput): Omit<Activities, 'runUnit'> {
  return proxyActivities<Omit<Activities, 'runUnit'>>({
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: input.timings.heartbeatTimeoutMs,
    cancellationType: ActivityCancellationType.ABANDON,
    retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 s' },
  });
}

/** The end of a unit that was cancelled before a worker had it. What is open is for the cancel to settle. */
function neverStarted(set: string): UnitEnd {
  return { handedBack: decode(set), nextDue: null, ran: 0, wallMs: 0 };
}

/** An answer with its times by the workflow's clock. */
function here<A extends Due>(answer: A): A {
  return { ...answer, nextDue: dueHere(answer, workflowNow()) };
}

/** Carries the machine's commands out as activities and timers of the running workflow. */
export class WorkflowEffects implements PaceEffects {
  private readonly own: Omit<Activities, 'runUnit'>;
  private readonly units = new Map<number, CancellationScope>();
  private timer: CancellationScope | undefined;
  private cancelling = false;
  private cancelRecorded: Promise<void> | undefined;
  /** The state with which finalize closed the job. */
  endState: JobState | undefined;

  constructor(
    private readonly input: JobWorkflowInput,
    private readonly onChange: (state: PaceState) => void,
  ) {
    this.own = ownActivities(input);
  }

  now(): number {
    return workflowNow();
  }

  async send(unit: Parameters<PaceEffects['send']>[0]): Promise<UnitEnd> {
    const { job, timings } = this.input;
    const set = encode(unit.set);
    const { seq, slots, lane } = unit;
    const input: UnitInput = { ...job, seq, set, slots, ...(lane !== 'run' && { lane }) };
    const scope = new CancellationScope({ cancellable: true });
    this.units.set(unit.seq, scope);
    try {
      // One attempt: what follows a lost delivery is the machine's to decide, so that there is one retry loop.
      const result = await scope.run(() =>
        scheduleActivity<UnitResult>('runUnit', [input], {
          activityId: `u${unit.seq}`,
          summary: `u${seq}: ${size(unit.set)} items${LANE_WORDS[lane]}`,
          startToCloseTimeout: timings.startToCloseMs,
          heartbeatTimeout: timings.heartbeatTimeoutMs,
          cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
          retry: { maximumAttempts: 1 },
        }),
      );
      return toEnd(here(result));
    } catch (error) {
      // Only a unit that no worker had yet ends like this: one that runs answers with its result.
      if (this.cancelling && isCancellation(error)) return neverStarted(set);
      throw error;
    } finally {
      this.units.delete(unit.seq);
    }
  }

  cancelUnits(): void {
    this.cancelling = true;
    for (const scope of this.units.values()) scope.cancel();
  }

  async begin(): ReturnType<Activities['begin']> {
    return here(await this.own.begin(this.input.job));
  }

  /** Has the cancel row written: units in flight read it. */
  recordCancel(by: string): void {
    this.cancelRecorded ??= this.own.recordCancel({ ...this.input.job, by });
  }

  async recover(...[seq, set]: Parameters<PaceEffects['recover']>): ReturnType<PaceEffects['recover']> {
    const { open, nextDue, ...others } = here(await this.own.recover({ ...this.input.job, seq, set: encode(set) }));
    return { open: toFound(open, others), nextDue };
  }

  async claim(...[exclude, limit, without]: Parameters<PaceEffects['claim']>): ReturnType<PaceEffects['claim']> {
    const ask = { ...this.input.job, exclude: encode(exclude), limit, ...(without && { without }) };
    const { set, more, nextDue, ...others } = here(await this.own.claimDue(ask));
    return { due: toFound(set, others), more, nextDue };
  }

  async settle(): Promise<unknown> {
    await this.cancelRecorded;
    return this.own.settle(this.input.job);
  }

  async finalize(round: number): ReturnType<PaceEffects['finalize']> {
    const answer = await this.own.finalize({ ...this.input.job, round });
    if (!('state' in answer)) return { missing: decode(answer.missing), nextDue: here(answer).nextDue };
    this.endState = answer.state;
    return { missing: [], nextDue: null };
  }

  setTimer(at: number | null, fire: () => void): void {
    this.timer?.cancel();
    this.timer = undefined;
    if (at === null) return;
    const scope = new CancellationScope({ cancellable: true });
    this.timer = scope;
    const delay = Math.max(1, at - workflowNow());
    scope.run(() => sleep(delay, { summary: 'the next due item' })).then(fire, () => undefined);
  }

  changed(state: PaceState): void {
    this.onChange(state);
  }
}

const LANE_WORDS: Readonly<Record<Lane, string>> = {
  run: '',
  check: ' that wait: their vendor is asked',
  quarantine: ' suspected of having killed a worker, one by one',
};
