import { EMPTY, indexes, range, type IndexSet } from '../../../model/index-set';
import { FRESH, type ItemHistory } from '../../../model/attempts';
import type { Found } from '../../../model/pace';
import type { Plan } from '../../../model/plan';
import type { Outcome } from '../../../model/states';
import type {
  Fence,
  IntentWrite,
  ItemCounts,
  JobRecord,
  LogLine,
  NewItem,
  NewJob,
  ParkedItem,
  ResultWrite,
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

/** The seq of the unit that ends what a test has left open. */
const LAST_SEQ = 9_999;

/** Gives all items of the job that have none yet one outcome; how many. */
export async function endAll(store: Store, job: JobRecord, outcome: Outcome, seq = LAST_SEQ): Promise<number> {
  const { generation } = await reread(store, job);
  const unit = fence(job, seq, { generation });
  const before = await reread(store, job);
  if (!(await store.openUnit(unit, UNIT))) return 0;
  for (let lo = 0; lo < job.items; lo += 10_000) {
    const settled = ended(outcome, indexes(range(lo, Math.min(job.items, lo + 10_000))), 0);
    await store.settle([flush(unit, { settled })]);
  }
  const after = await reread(store, job);
  return after.outcomes[outcome] - before.outcomes[outcome];
}

/** Gives all items of the job one outcome, and closes it. */
export async function finishAll(store: Store, job: JobRecord, outcome: Outcome): Promise<void> {
  await endAll(store, job, outcome);
  expect(await store.finalize(job.no, 0)).toHaveProperty('state');
}

/** The job as the store has it now. */
export async function reread(store: Store, job: JobRecord): Promise<JobRecord> {
  const now = await store.jobByNo(job.no);
  if (!now) throw new Error(`job ${job.no} is gone`);
  return now;
}

/** The lines of the job's log that are not about its state. */
export async function linesOf(store: Store, job: JobRecord, limit = 5_000): Promise<LogLine[]> {
  return (await store.log(job.no, { after: 0, limit })).filter((line) => line.state === null);
}

export function sum(counts: ItemCounts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

export function all(job: JobRecord): IndexSet {
  return range(0, job.items);
}

/** Items by lane, where most tests have one kind. */
export function found(lanes: Partial<Found>): Found {
  return { run: EMPTY, check: EMPTY, quarantine: EMPTY, ...lanes };
}

/** An intent of a call to a vendor for an item of the job. */
export function intent(job: JobRecord, unit: Fence, index: number, more: Partial<IntentWrite> = {}): IntentWrite {
  return {
    type: 'intent',
    rootNo: job.rootNo,
    subject: `i:item-${index}`,
    call: 'charge',
    fence: unit,
    token: `token-${index}`,
    kind: 'vendor',
    vendor: 'acme-pay',
    key: `key-${index}`,
    argsHash: 'hash',
    renew: false,
    ...more,
  };
}

/** An intent to start a wait. */
export function start(
  job: JobRecord,
  unit: Fence,
  index: number,
  { name = 'verdict', ordinal = 1, maxOpen = null, ...more }: Partial<IntentWrite & Waits> = {},
): IntentWrite {
  const wait = { index, name, ordinal, capability: job.capability, maxOpen };
  return intent(job, unit, index, { call: `wait:${name}#${ordinal}`, kind: 'start', vendor: null, wait, ...more });
}
type Waits = Pick<NonNullable<IntentWrite['wait']>, 'name' | 'ordinal' | 'maxOpen'>;

/** What came of an intent. */
export function resultOf(write: IntentWrite, result: unknown): ResultWrite {
  const { rootNo, subject, call } = write;
  return { type: 'result', rootNo, subject, call, result };
}

/** Starts waits for items, and parks these until `due`; each is known to the vendor as `r` and its index. */
export async function startWaits(
  store: Store,
  job: JobRecord,
  unit: Fence,
  which: readonly number[],
  { due, ordinal = 1, name = 'verdict' }: { due: number; ordinal?: number; name?: string },
): Promise<void> {
  const starts = which.map((index) => start(job, unit, index, { ordinal, name }));
  await store.journal(starts);
  await store.journal(starts.map((write, i) => resultOf(write, `r${which[i]}`)));
  const waits = which.map((index) => parked(index, due, { kind: 'wait', error: null }));
  expect(await store.settle([flush(unit, { parked: waits })])).toEqual([true]);
}

/** Gives the waits of items an answer. */
export async function answerWaits(
  store: Store,
  unit: Fence,
  answered: NonNullable<UnitFlush['checked']>['answered'],
): Promise<void> {
  expect(await store.settle([flush(unit, { checked: { pending: [], answered } })])).toEqual([true]);
}
