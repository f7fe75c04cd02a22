import { range, type IndexSet } from '../../../model/index-set';
import { FRESH, type ItemHistory } from '../../../model/attempts';
import type { Plan } from '../../../model/plan';
import type { Outcome } from '../../../model/states';
import type {
  Fence,
  ItemCounts,
  JobRecord,
  NewItem,
  NewJob,
  ParkedItem,
  SettledItem,
  Store,
  UnitFlush,
} from '../../../store';

/** A fresh store of the adapter under test. */
export interface Opened {
  readonly store: Store;
  /** Another connection to the same data, as another process would have; closed with `dispose`. */
  reopen(): Promise<Store>;
  /** The time that the store and every reopened one go by. */
  readonly clock: { now: number };
  dispose(): Promise<void>;
}
export type Open = () => Promise<Opened>;

/** Opens a store for each test of the describe block that calls it. */
export function eachWithStore(open: Open): Omit<Opened, 'dispose'> {
  let opened: Opened | undefined;
  const current = (): Opened => {
    if (!opened) throw new Error('no test is running');
    return opened;
  };
  beforeEach(async () => {
    opened = await open();
  });
  afterEach(async () => {
    await opened?.dispose();
    opened = undefined;
  });
  return {
    get store() {
      return current().store;
    },
    get clock() {
      return current().clock;
    },
    reopen: () => current().reopen(),
  };
}

/** What a test that moves 25,000 items may take, ms. */
export const LARGE_MS = 60_000;

export const PLAN: Plan = {
  maxAttempts: 3,
  backoff: { initialMs: 1_000, maxMs: 60_000 },
  deferral: { max: 10, maxTimeMs: 3_600_000 },
  tuning: { window: 50, unitMax: 1_000, batch: null },
  itemTimeoutMs: 30_000,
};

export function newItems(count: number, from = 0): NewItem[] {
  return Array.from({ length: count }, (_, i) => ({
    index: from + i,
    id: `item-${from + i}`,
    input: `{"n":${from + i}}`,
  }));
}

let jobs = 0;

export function newJob(items: number, more: Partial<NewJob> = {}): NewJob {
  return {
    id: `job-${++jobs}`,
    tenant: 'acme',
    caller: 'ann',
    capability: 'text.upper@1',
    params: {},
    labels: {},
    plan: PLAN,
    items,
    idempotency: null,
    ...more,
  };
}

/** An upload with the given items, not yet sealed. */
export async function upload(store: Store, items: readonly NewItem[], tenant = 'acme'): Promise<number> {
  const no = await store.openUpload(tenant);
  for (let i = 0; i < items.length; i += 5_000) await store.addItems(no, items.slice(i, i + 5_000));
  return no;
}

/** A sealed job with `count` items. */
export async function submit(store: Store, count: number, more: Partial<NewJob> = {}): Promise<JobRecord> {
  const job = newJob(count, more);
  return (await store.seal(await upload(store, newItems(count), job.tenant), job)).job;
}

export function fence(job: JobRecord, seq: number, more: Partial<Fence> = {}): Fence {
  return { jobNo: job.no, generation: 1, seq, delivery: 'first', ...more };
}

export const UNIT = { worker: 'worker-1', size: 10, running: 0 } as const;

/** Opens a unit of the job; its fence. */
export async function openUnit(store: Store, job: JobRecord, seq: number, more: Partial<Fence> = {}): Promise<Fence> {
  const unit = fence(job, seq, more);
  expect(await store.openUnit(unit, UNIT)).toBeDefined();
  return unit;
}

export function flush(unit: Fence, more: Partial<Omit<UnitFlush, 'fence'>> = {}): UnitFlush {
  return {
    fence: unit,
    settled: [],
    parked: [],
    usage: [],
    log: [],
    running: 0,
    progress: {},
    close: false,
    ...more,
  };
}

export function ended(outcome: Outcome, indexes: Iterable<number>, attempts = 1): SettledItem[] {
  return [...indexes].map((index) => ({ index, outcome, attempts, body: { reason: `${outcome} ${index}` } }));
}

export function parked(index: number, due: number, more: Partial<Omit<ParkedItem, 'index' | 'due'>> = {}): ParkedItem {
  return { index, due, kind: 'retry', history: attempted(1), error: { code: 'boom', message: 'it broke' }, ...more };
}

export function attempted(attempts: number): ItemHistory {
  return { ...FRESH, attempts };
}

/** Runs a whole unit: opened, flushed once, closed. */
export async function runUnit(
  store: Store,
  job: JobRecord,
  seq: number,
  what: Partial<Omit<UnitFlush, 'fence' | 'close'>>,
): Promise<void> {
  const unit = await openUnit(store, job, seq);
  expect(await store.settle([flush(unit, { ...what, close: true })])).toEqual([true]);
}

/** Gives all items of the job one outcome, and closes it. */
export async function finishAll(store: Store, job: JobRecord, outcome: Outcome): Promise<void> {
  await store.endOpenItems(job.no, outcome, {});
  expect(await store.finalize(job.no, 0)).toHaveProperty('state');
}

/** The job as the store has it now. */
export async function reread(store: Store, job: JobRecord): Promise<JobRecord> {
  const now = await store.jobByNo(job.no);
  if (!now) throw new Error(`job ${job.no} is gone`);
  return now;
}

export function sum(counts: ItemCounts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

export function all(job: JobRecord): IndexSet {
  return range(0, job.items);
}
