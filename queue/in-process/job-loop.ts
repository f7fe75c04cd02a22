import { setMaxListeners } from 'node:events';
import type { Activities, JobRef, Log } from '../../activities';
import { decode, encode } from '../../model/index-set';
import {
  PaceInterpreter,
  initialState,
  toEnd,
  toFound,
  type PaceEffects,
  type PaceState,
  type UnitEnd,
} from '../../model/pace';
import { StoreUnavailable } from '../../store';
import type { JobStart, Notice } from '../port';

/** Time as the loop sees it; a simulator brings its own. */
export interface LoopClock {
  now(): number;
  /** Calls `work` once after `ms`, unless the returned function is called first. */
  after(ms: number, work: () => void): () => void;
}

export interface LoopOptions {
  readonly activities: Activities;
  readonly clock: LoopClock;
  readonly log: Log;
  /** Told of a job's state after every event; for whoever measures or simulates. */
  readonly observe?: (state: PaceState) => void;
}

/** A store that is away is asked again after this long, ms. */
const AGAIN_MS = 500;

/** The pace machine of one job, its commands carried out by plain calls. */
export class JobLoop {
  private readonly ref: JobRef;
  private readonly stopped = new AbortController();
  private readonly unitStop = new AbortController();
  private readonly units = new Set<Promise<unknown>>();
  private readonly early: Notice[] = [];
  private pace: PaceInterpreter | undefined;
  private clearTimer: (() => void) | undefined;
  private over: { resolve: () => void; reject: (error: unknown) => void } | undefined;

  constructor(
    private readonly options: LoopOptions,
    private readonly start: JobStart,
  ) {
    const { jobId, jobNo, generation } = start;
    this.ref = { jobId, jobNo, generation };
    // Every unit in flight listens to it.
    setMaxListeners(0, this.unitStop.signal);
  }

  /** Resolves when the job is closed or the loop was stopped; rejects when it cannot go on. */
  async run(): Promise<void> {
    const { total, tuning, generation } = this.start;
    let { paused } = this.start;
    let from = { cursor: 0, nextDue: null as number | null };
    if (generation > 1) {
      const begun = await this.patiently(() => this.options.activities.begin(this.ref));
      from = begun;
      paused = begun.paused;
      if (begun.cancel) this.early.push('cancel');
    }
    const ended = new Promise<void>((resolve, reject) => {
      this.over = { resolve, reject };
    });
    this.pace = new PaceInterpreter(initialState({ total, tuning, paused, ...from }), this.effects());
    this.pace.push({ type: 'start' });
    for (const notice of this.early.splice(0)) this.notify(notice);
    await ended;
  }

  get paused(): boolean | null {
    return this.pace?.state.paused ?? null;
  }

  notify(notice: Notice): void {
    if (!this.pace) this.early.push(notice);
    else if (!this.stopped.signal.aborted) this.pace.push({ type: notice });
  }

  /** Ends the loop where it is; nothing more is sent. */
  stop(): void {
    this.stopped.abort();
    this.clearTimer?.();
    this.unitStop.abort();
    this.over?.resolve();
  }

  /** Resolves when no unit of the loop runs any more. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.units]);
  }

  private effects(): PaceEffects {
    const { activities, clock } = this.options;
    const { ref } = this;
    return {
      now: () => clock.now(),
      send: ({ seq, set, slots, lane }) =>
        this.send({ ...ref, seq, set: encode(set), slots, ...(lane !== 'run' && { lane }) }),
      cancelUnits: () => this.unitStop.abort(),
      recover: async (seq, set) => {
        const lost = { ...ref, seq, set: encode(set) };
        const { open, nextDue, ...others } = await this.patiently(() => activities.recover(lost));
        return { open: toFound(open, others), nextDue };
      },
      claim: async (exclude, limit, without) => {
        const input = { ...ref, exclude: encode(exclude), limit, ...(without && { without }) };
        const { set, more, nextDue, ...others } = await this.patiently(() => activities.claimDue(input));
        return { due: toFound(set, others), more, nextDue };
      },
      settle: () => this.patiently(() => activities.settle(ref)),
      finalize: async (round) => {
        const answer = await this.patiently(() => activities.finalize({ ...ref, round }));
        if ('state' in answer) return { missing: [], nextDue: null };
        return { missing: decode(answer.missing), nextDue: answer.nextDue };
      },
      setTimer: (at, fire) => {
        this.clearTimer?.();
        this.clearTimer = at === null ? undefined : clock.after(Math.max(1, at - clock.now()), fire);
      },
      changed: (state) => {
        this.options.observe?.(state);
        this.check();
      },
    };
  }

  private async send(input: Parameters<Activities['runUnit']>[0]): Promise<UnitEnd> {
    const delivery = { heartbeat: () => undefined, stop: this.unitStop.signal };
    const running = this.options.activities.runUnit(input, delivery);
    this.units.add(running);
    try {
      return toEnd(await this.unlessStopped(running));
    } catch (error) {
      this.options.log.warn({ err: error, job: input.jobId, seq: input.seq }, 'a unit was lost');
      throw error;
    } finally {
      this.units.delete(running);
    }
  }

  /** A stopped loop hears nothing more: what waits for an answer waits for ever, and is collected with the loop. */
  private async unlessStopped<T>(answer: Promise<T>): Promise<T> {
    const result = await answer;
    return this.stopped.signal.aborted ? new Promise<T>(() => undefined) : result;
  }

  /** Calls again while the store is away, as Temporal's retries do for the activity adapter. */
  private async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.unlessStopped(work());
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await new Promise<void>((resolve) => void this.options.clock.after(AGAIN_MS, resolve));
      }
    }
  }

  private check(): void {
    if (!this.pace?.isOver) return;
    if (this.pace.failure) this.over?.reject(this.pace.failure.error);
    else this.over?.resolve();
  }
}
