import { randomUUID } from 'node:crypto';
import {
  createActivities,
  type Activities,
  type StartedLog,
  type UnitInput,
  type UnitResult,
  type UnitSettings,
} from '../../activities';
import { createRegistry, type Payload } from '../../contract';
import { encode, fromIndexes, range } from '../../model/index-set';
import type { Plan } from '../../model/plan';
import {
  openStore,
  type ItemView,
  type JobRecord,
  type JournalWrite,
  type LogLine,
  type Store,
  type UnitFlush,
} from '../../store';
import { FakeClock } from './fake-clock';

export const SETTINGS: UnitSettings = { unitBudgetMs: 60_000, heartbeatMs: 2_000, shutdownGraceMs: 10_000 };

/** A line of the worker's own log. */
export interface WorkerLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** Called before the store is; throws what it would throw, or takes its time. */
export interface Faults {
  settle?: (flushes: readonly UnitFlush[]) => unknown;
  inputs?: () => unknown;
  journal?: (writes: readonly JournalWrite[]) => unknown;
}

export type UnitOptions = Partial<Pick<UnitInput, 'seq' | 'slots' | 'generation' | 'lane'>> & {
  readonly indexes?: readonly number[];
  readonly stop?: AbortSignal;
  readonly heartbeat?: () => void;
};

/** The activities of a worker over a store in memory, in time that stands still. */
export class UnitRig {
  readonly lines: WorkerLine[] = [];
  /** All that was offered to the store, in order, with the store's answer. */
  readonly flushes: { flush: UnitFlush; accepted: boolean }[] = [];
  /** All that was offered to the journal, in order. */
  readonly journaled: JournalWrite[] = [];
  readonly faults: Faults = {};
  readonly draining = new AbortController();
  /** Of workers that are made from now on. */
  started: StartedLog | undefined;
  readonly activities: Activities;
  private seq = 0;

  private constructor(
    readonly clock: FakeClock,
    readonly store: Store,
    private readonly payload: Payload,
    private readonly settings: UnitSettings,
  ) {
    this.activities = this.worker();
  }

  static async open(payload: Payload, settings: Partial<UnitSettings> = {}): Promise<UnitRig> {
    const clock = new FakeClock();
    const store = await openStore({ file: ':memory:', patienceMs: 0, now: clock.now });
    return new UnitRig(clock, store, payload, { ...SETTINGS, ...settings });
  }

  /** Another process on the same store. */
  worker(registry = createRegistry([this.payload])): Activities {
    const line = (level: WorkerLine['level']) => (fields: object, message: string) =>
      void this.lines.push({ level, fields: fields as Record<string, unknown>, message });
    return createActivities({
      store: this.overheard(),
      registry,
      configOf: () => ({ setting: 'value' }),
      clock: this.clock,
      random: () => 0.5,
      newId: randomUUID,
      log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
      workerId: `worker-${randomUUID()}`,
      draining: this.draining.signal,
      settings: this.settings,
      ...(this.started && { started: this.started }),
    });
  }

  async submit(inputs: readonly unknown[], plan: Partial<Plan> = {}, params: unknown = {}): Promise<JobRecord> {
    const { limits, capability, batches } = this.payload;
    const upload = await this.store.openUpload('test');
    const rows = inputs.map((input, index) => ({ index, id: `i${index}`, input: JSON.stringify(input) }));
    await this.store.addItems(upload, rows);
    const tuning = { window: limits.concurrency, unitMax: limits.unitMax, batch: batches ? limits.batch : null };
    const { job } = await this.store.seal(upload, {
      ...{ id: `job-${upload}`, tenant: 'test', caller: 'test', labels: {}, idempotency: null },
      ...{ capability, params, items: inputs.length, plan: { tuning, ...limits, ...plan } },
    });
    return job;
  }

  run(job: JobRecord, options: UnitOptions = {}, activities = this.activities): Promise<UnitResult> {
    const { indexes, stop = new AbortController().signal, heartbeat = () => undefined, ...more } = options;
    const set = encode(indexes ? fromIndexes(indexes) : range(0, job.items));
    const input = { jobId: job.id, jobNo: job.no, generation: 1, seq: ++this.seq, set, slots: 10, ...more };
    return activities.runUnit(input, { heartbeat, stop });
  }

  /** Submits and runs one unit; what its items came to. */
  async items(inputs: readonly unknown[], options: UnitOptions = {}, plan: Partial<Plan> = {}): Promise<ItemView[]> {
    const job = await this.submit(inputs, plan);
    await this.run(job, options);
    return this.views(job);
  }

  views(job: JobRecord): Promise<ItemView[]> {
    return this.store.items(job, { after: -1, limit: 1_000 });
  }

  /** Lines of the job's log that are not about its state. */
  async jobLog(job: JobRecord): Promise<LogLine[]> {
    return (await this.store.log(job.no, { after: 0, limit: 10_000 })).filter((line) => line.state === null);
  }

  /** Writes the row of a cancel, and lets the worker hear of it. */
  async cancel(job: JobRecord): Promise<void> {
    await this.store.requestCancel(job.no, 'a person');
    await this.clock.advance(200);
  }

  private overheard(): Store {
    const { store } = this;
    return {
      ...store,
      inputs: async (...args) => {
        await this.faults.inputs?.();
        return store.inputs(...args);
      },
      journal: async (writes) => {
        await this.faults.journal?.(writes);
        this.journaled.push(...writes);
        return store.journal(writes);
      },
      settle: async (flushes) => {
        await this.faults.settle?.(flushes);
        const answers = await store.settle(flushes);
        flushes.forEach((flush, i) => this.flushes.push({ flush, accepted: answers[i]! }));
        return answers;
      },
    };
  }
}

/** States of items, in their order. */
export function states(items: readonly ItemView[]): string[] {
  return items.map((item) => item.state);
}

/** The code of an item's error, whether it failed or is parked. */
export function code(item: ItemView | undefined): string | undefined {
  return (item?.body?.error ?? item?.parked?.error)?.code;
}
