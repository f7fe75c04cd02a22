import { randomUUID } from 'node:crypto';
import { createActivities, type Activities, type JobRef, type Log } from '../activities';
import { createRegistry, type Payload } from '../contract';
import { encode, fromIndexes, range, type IndexSet } from '../model/index-set';
import { planOf } from '../model/plan';
import { openStore, type ItemView, type JobRecord, type ParkKind, type Store } from '../store';
import { Ledger, type ItemReport } from './report';
import { seededRandom } from './seeded-random';
import { TestClock } from './test-clock';

export interface TestItem {
  /** Unique among the items. */
  readonly id: string;
  /** What a caller would send: JSON. */
  readonly input: unknown;
}

export interface RunPayloadOptions {
  /** The job's params, as a caller would send them. Default `{}`. */
  readonly params?: unknown;
  /** The payload's settings, each as its environment variable would have it. Default `{}`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** How often an item may be run; the waits in between are skipped. Default 1. */
  readonly attempts?: number;
  /** Aborted: the job is cancelled. */
  readonly signal?: AbortSignal;
  /** Of what the runner leaves to chance: the jitter between attempts. Default 1. */
  readonly seed?: number;
}

/**
 * Runs a payload over items as a worker would, with no server: inputs are checked, results too, time-outs and limits
 * hold, and every item ends in what a job would say of it. The reports come in the order of the items.
 *
 * ```ts
 * const [report] = await runPayload(payload, [{ id: 'a', input: { url } }], { params: { timeout: '1s' } });
 * expect(report).toMatchObject({ state: 'succeeded', result: { status: 200 } });
 * ```
 *
 * @throws TypeError when the params or the config do not fit the payload's schemas, or an input is not JSON.
 */
export async function runPayload(
  payload: Payload,
  items: readonly TestItem[],
  options: RunPayloadOptions = {},
): Promise<ItemReport[]> {
  check(payload, 'params', options.params ?? {});
  const config = check(payload, 'config', options.config ?? {});
  const clock = new TestClock();
  const store = await openStore({ file: ':memory:', patienceMs: 0, now: clock.now });
  try {
    const ledger = new Ledger();
    const job = await submit(store, payload, items, options.params ?? {});
    const activities = createActivities({
      store: ledger.over(store),
      registry: createRegistry([payload]),
      configOf: () => config,
      clock,
      random: seededRandom(options.seed ?? 1),
      newId: randomUUID,
      log: SILENT,
      workerId: 'test',
      draining: new AbortController().signal,
      settings: { unitBudgetMs: Infinity, heartbeatMs: 1_000, shutdownGraceMs: 0 },
    });
    await runRounds({ store, activities, clock, job }, options);
    return (await viewItems(store, job)).map((item) => ledger.report(item, clock.now()));
  } finally {
    await store.close();
  }
}

interface Run {
  readonly store: Store;
  readonly activities: Activities;
  readonly clock: TestClock;
  readonly job: JobRecord;
}

/** Checks after which a wait that is still pending is left as it is. */
const MOST_CHECKS = 10_000;

/** Runs what is open, then what came due, until nothing will or every item had its attempts. */
async function runRounds(run: Run, options: RunPayloadOptions): Promise<void> {
  const { store, activities, job } = run;
  const { attempts = 1, signal } = options;
  const stop = new AbortController();
  let cancelled: Promise<unknown> | undefined;
  const cancel = (): void => {
    cancelled = store.requestCancel(job.no, 'test').then(() => stop.abort());
  };
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted) cancel();
  try {
    const units = new Units(run, stop.signal);
    for (let left = attempts; left > 0; left--) {
      await cancelled;
      await runOpen(run, units, () => cancelled !== undefined);
      await cancelled;
      if (cancelled) return void (await activities.settle(units.ref));
      const due = (await viewItems(store, job)).flatMap((item) => item.parked?.due ?? []);
      if (due.length === 0) return;
      if (left > 1) run.clock.skipTo(Math.max(...due));
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
    await cancelled;
  }
}

/** Runs what is open. What a ceiling on open waits kept from starting is run when they are answered. */
async function runOpen(run: Run, units: Units, over: () => boolean): Promise<void> {
  let before = Infinity;
  for (let left = run.job.items; left > 0 && left < before && !over();) {
    before = left;
    await units.send('run', range(0, run.job.items));
    await waitForAnswers(run, units, over);
    left = (await viewItems(run.store, run.job)).filter((item) => item.state === 'pending').length;
  }
}

/** Asks about what waits, as often as it takes, and goes on with what was answered. Neither is another attempt. */
async function waitForAnswers({ store, clock, job }: Run, units: Units, over: () => boolean): Promise<void> {
  for (let checks = 0; checks < MOST_CHECKS && !over(); checks++) {
    const items = await viewItems(store, job);
    const parked = (kind: ParkKind): ItemView[] => items.filter((item) => item.parked?.kind === kind);
    const [waiting, answered] = [parked('wait'), parked('answer')];
    if (answered.length > 0) await units.send('run', fromIndexes(answered.map((item) => item.index)));
    else if (waiting.length === 0) return;
    else {
      clock.skipTo(Math.min(...waiting.map((item) => item.parked!.due)));
      await units.send('check', range(0, job.items));
    }
  }
}

/** Delivers units, one after the other. */
class Units {
  readonly ref: JobRef;
  private seq = 0;

  constructor(
    private readonly run: Run,
    private readonly stop: AbortSignal,
  ) {
    this.ref = { jobId: run.job.id, jobNo: run.job.no, generation: 1 };
  }

  async send(lane: 'run' | 'check', set: IndexSet): Promise<void> {
    const { window, batch } = this.run.job.plan.tuning;
    const slots = lane === 'check' ? 0 : Math.min(window, batch ?? Infinity);
    const unit = { ...this.ref, seq: ++this.seq, set: encode(set), slots, ...(lane === 'check' && { lane }) };
    await this.run.activities.runUnit(unit, { heartbeat: () => undefined, stop: this.stop });
  }
}

async function submit(store: Store, payload: Payload, items: readonly TestItem[], params: unknown): Promise<JobRecord> {
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

function viewItems(store: Store, job: JobRecord): Promise<ItemView[]> {
  return store.items(job, { after: -1, limit: job.items });
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
