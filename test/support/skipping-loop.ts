import { randomUUID } from 'node:crypto';
import { createActivities, systemClock, type Activities, type Clock, type Log } from '../../activities';
import { createRegistry, type Payload } from '../../contract';
import { encodeState, type PaceState } from '../../model/pace';
import { planOf } from '../../model/plan';
import { InProcessQueue, startJob } from '../../queue';
import { openStore, type JobRecord, type Store } from '../../store';

const nothing = (): void => undefined;
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * The in-process queue in time that is skipped: while nothing is in flight, the next timer fires at once. An hour of
 * waiting takes as long as the work in it.
 */
export class SkippingLoop {
  /** Units delivered, by lane. */
  readonly units: Record<string, number> = {};
  largestState = 0;
  private inFlight = 0;
  private readonly timers = new Set<{ at: number; work: () => void }>();

  private constructor(
    readonly store: Store,
    private readonly payload: Payload,
    /** What the store's clock goes by, too. */
    private readonly time: { skippedMs: number },
  ) {}

  static async open(payload: Payload, file: string): Promise<SkippingLoop> {
    const time = { skippedMs: 0 };
    const store = await openStore({ file, patienceMs: 10_000, now: () => Date.now() + time.skippedMs });
    return new SkippingLoop(store, payload, time);
  }

  get skippedMs(): number {
    return this.time.skippedMs;
  }

  readonly now = (): number => Date.now() + this.skippedMs;

  /** Runs a job of `n` items to its end. */
  async run(n: number): Promise<JobRecord> {
    const job = await this.submit(n);
    const queue = new InProcessQueue({
      activities: this.counted(this.activities()),
      clock: { now: this.now, after: (ms, work) => this.after(ms, work) },
      log: SILENT,
      observe: (state) => this.observe(state),
    });
    const over = new Promise<void>((resolve) => {
      const stop = this.store.onChange(() => {
        void this.store.jobByNo(job.no).then((current) => {
          if (current?.finishedAt === null) return;
          stop();
          resolve();
        });
      });
    });
    await startJob({ store: this.store, queue, now: this.now }, job);
    await over;
    await queue.close();
    return (await this.store.jobByNo(job.no))!;
  }

  private activities(): Activities {
    const clock: Clock = { ...systemClock, now: this.now };
    return createActivities({
      store: this.store,
      registry: createRegistry([this.payload]),
      configOf: () => ({}),
      clock,
      random: Math.random,
      newId: randomUUID,
      log: SILENT,
      workerId: 'loop',
      draining: new AbortController().signal,
      settings: { unitBudgetMs: 60_000, heartbeatMs: 2_000, shutdownGraceMs: 0 },
    });
  }

  /** Every call that the loop waits for holds time back. */
  private counted(activities: Activities): Activities {
    const held =
      <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        this.inFlight++;
        try {
          return await work(...args);
        } finally {
          // The loop has its turn before time goes on: it may have something to send.
          setImmediate(() => {
            this.inFlight--;
            this.skip();
          });
        }
      };
    const runUnit = held(activities.runUnit);
    return {
      ...activities,
      runUnit: (input, delivery) => {
        const lane = input.lane ?? 'run';
        this.units[lane] = (this.units[lane] ?? 0) + 1;
        return runUnit(input, delivery);
      },
      claimDue: held(activities.claimDue),
      recover: held(activities.recover),
      settle: held(activities.settle),
      finalize: held(activities.finalize),
    };
  }

  private after(ms: number, work: () => void): () => void {
    const timer = { at: this.now() + ms, work };
    this.timers.add(timer);
    this.skip();
    return () => void this.timers.delete(timer);
  }

  private skip(): void {
    setImmediate(() => {
      const [first] = [...this.timers].sort((a, b) => a.at - b.at);
      if (this.inFlight > 0 || !first) return;
      this.timers.delete(first);
      this.time.skippedMs += Math.max(0, first.at - this.now());
      first.work();
    });
  }

  private observe(state: PaceState): void {
    this.largestState = Math.max(this.largestState, JSON.stringify(encodeState(state)).length);
  }

  private async submit(n: number): Promise<JobRecord> {
    const upload = await this.store.openUpload('default');
    for (let from = 0; from < n; from += 1_000) {
      const length = Math.min(1_000, n - from);
      const rows = Array.from({ length }, (_, i) => ({ index: from + i, id: `i${from + i}`, input: '{}' }));
      await this.store.addItems(upload, rows);
    }
    const { job } = await this.store.seal(upload, {
      id: `job-${upload}`,
      tenant: 'default',
      caller: 'test',
      capability: this.payload.capability,
      params: {},
      labels: {},
      plan: planOf(this.payload),
      items: n,
      idempotency: null,
    });
    return job;
  }
}
