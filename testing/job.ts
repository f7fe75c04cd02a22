import { randomUUID } from 'node:crypto';
import { createActivities, type Activities, type Clock, type Log } from '../activities';
import { createRegistry, type Payload } from '../contract';
import { planOf } from '../model/plan';
import { openStore, type ItemView, type JobRecord, type Store } from '../store';
import { seededRandom } from './seeded-random';
import { TestClock } from './test-clock';

export interface TestItem {
  /** Unique among the items. */
  readonly id: string;
  /** What a caller would send: JSON. */
  readonly input: unknown;
}

/** What a test says of the job, whichever way it is run. */
export interface JobOptions {
  /** The job's params, as a caller would send them. Default `{}`. */
  readonly params?: unknown;
  /** The payload's settings, each as its environment variable would have it. Default `{}`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Of what the runner leaves to chance. Default 1. */
  readonly seed?: number;
}

/** A job that was submitted to a store in memory, in a time of its own. */
export interface TestJob {
  readonly payload: Payload;
  readonly store: Store;
  readonly clock: TestClock;
  readonly job: JobRecord;
  /** As the payload's schema gives it out. */
  readonly config: unknown;
}

/**
 * Opens a store in memory, works with it, and forgets it. `submit` makes a job of the items.
 * @throws TypeError when the params or the config do not fit the payload's schemas, or an input is not JSON.
 */
export async function withStore<T>(
  payload: Payload,
  { params = {}, config = {} }: JobOptions,
  work: (submit: (items: readonly TestItem[]) => Promise<TestJob>) => Promise<T>,
): Promise<T> {
  check(payload, 'params', params);
  const settings = check(payload, 'config', config);
  const clock = new TestClock();
  const store = await openStore({ file: ':memory:', patienceMs: 0, now: clock.now });
  try {
    return await work(async (items) => {
      const job = await submitTo(store, payload, items, params);
      return { payload, store, clock, job, config: settings };
    });
  } finally {
    await store.close();
  }
}

/** What a worker is made of beside its job: a test may put something of its own in place of each. */
export interface WorkerParts {
  readonly payload?: Payload;
  readonly store?: Store;
  readonly clock?: Clock;
}

/** The activities of a worker that has the job's payload. */
export function workerOf(job: TestJob, seed: number = 1, parts: WorkerParts = {}): Activities {
  const { payload, store, clock } = { ...job, ...parts };
  return createActivities({
    store,
    registry: createRegistry([payload]),
    configOf: () => job.config,
    clock,
    random: seededRandom(seed),
    newId: randomUUID,
    log: SILENT,
    workerId: 'test',
    draining: new AbortController().signal,
    settings: { unitBudgetMs: Infinity, heartbeatMs: 1_000, shutdownGraceMs: 0 },
  });
}

export function viewItems({ store, job }: Pick<TestJob, 'store' | 'job'>): Promise<ItemView[]> {
  return store.items(job, { after: -1, limit: job.items });
}

async function submitTo(
  store: Store,
  payload: Payload,
  items: readonly TestItem[],
  params: unknown,
): Promise<JobRecord> {
  const upload = await store.openUpload('test');
  const rows = items.map(({ id, input }, index) => ({ index, id, input: toJson(id, input) }));
  await store.addItems(upload, rows);
  const { job } = await store.seal(upload, {
    id: `test-${randomUUID()}`,
    tenant: 'test',
    caller: 'test',
    capability: payload.capability,
    params,
    labels: {},
    plan: planOf(payload),
    items: items.length,
    idempotency: null,
  });
  return job;
}

function toJson(id: string, input: unknown): string {
  const text = JSON.stringify(input) as string | undefined;
  if (text === undefined) throw new TypeError(`the input of item ${JSON.stringify(id)} is not JSON`);
  return text;
}

function check(payload: Payload, what: 'params' | 'config', value: unknown): unknown {
  const parsed = payload[what].safeParse(value);
  if (parsed.success) return parsed.data;
  const misfits = parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || what}: ${message}`);
  throw new TypeError(`the ${what} given do not fit ${payload.capability}: ${misfits.join('; ')}`);
}

const nothing = (): void => undefined;
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
