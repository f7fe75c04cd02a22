import { sql } from 'kysely';
import { fromIndexes } from '../../model/index-set';
import type { Fence, ParkedItem, SettledItem, Store, UnitFlush } from '../../store';
import type { Database } from '../../store/sql/dialect';
import type { Bug } from './bug';

/** Makes a delivery that another one has taken over from the current one again. */
async function reopen(db: Database, { jobNo, generation, seq, delivery }: Fence): Promise<void> {
  await sql`update units set delivery = ${delivery}, closed = 0
    where job_no = ${jobNo} and generation = ${generation} and seq = ${seq}`.execute(db);
}

function changeParked(flush: UnitFlush, change: (item: ParkedItem) => ParkedItem): UnitFlush {
  return { ...flush, parked: flush.parked.map(change) };
}

function withAttempts(item: ParkedItem, by: number): ParkedItem {
  return { ...item, history: { ...item.history, attempts: Math.max(0, item.history.attempts + by) } };
}

/** A newer outcome takes the place of the one there is. */
async function overwrite(db: Database, { fence, settled }: UnitFlush): Promise<void> {
  for (const { index, outcome, attempts, body } of settled) {
    await sql`update outcomes set outcome = ${outcome}, attempts = ${attempts}, body = ${JSON.stringify(body)}
      where job_no = ${fence.jobNo} and idx = ${index}`.execute(db);
  }
}

const OF_FLUSHES: readonly Bug[] = [
  {
    name: 'the fence is not checked when outcomes are written',
    store: (store, db) => ({
      settle: async (flushes) => {
        for (const { fence } of flushes) await reopen(db, fence);
        return store.settle(flushes);
      },
    }),
  },
  {
    name: 'outcomes are flushed before their usage',
    store: (store) => ({
      settle: async (flushes) => {
        const answers = await store.settle(flushes.map((flush) => ({ ...flush, usage: [] })));
        const nothing = { settled: [] as SettledItem[], parked: [], log: [], close: false };
        const rest = flushes.filter(({ usage }) => usage.length > 0).map((flush) => ({ ...flush, ...nothing }));
        if (rest.length > 0) await store.settle(rest);
        return answers;
      },
    }),
  },
  {
    name: 'a retry forgets its count',
    store: (store) => ({
      settle: (flushes) =>
        store.settle(
          flushes.map((flush) => changeParked(flush, (item) => withAttempts(item, item.kind === 'retry' ? -1 : 0))),
        ),
    }),
  },
  {
    name: 'a deferral is counted as an attempt',
    store: (store) => ({
      settle: (flushes) =>
        store.settle(
          flushes.map((flush) => changeParked(flush, (item) => withAttempts(item, item.kind === 'defer' ? 1 : 0))),
        ),
    }),
  },
  {
    name: 'a second outcome overwrites the first',
    store: (store, db) => ({
      settle: async (flushes) => {
        const answers = await store.settle(flushes);
        for (const flush of flushes) await overwrite(db, flush);
        return answers;
      },
    }),
  },
  {
    name: 'the answer to a wait is not stored',
    store: (store) => ({
      settle: (flushes) =>
        store.settle(
          flushes.map((flush) => (flush.checked ? { ...flush, checked: { ...flush.checked, answered: [] } } : flush)),
        ),
    }),
  },
];

const OF_CALLS: readonly Bug[] = [
  {
    name: 'a call that was made before is made again',
    store: (store) => ({
      journal: async (writes) => {
        const answers = await store.journal(writes);
        return answers.map((answer, i) =>
          writes[i]!.type === 'intent' && answer.is === 'known' ? { is: 'stored' as const } : answer,
        );
      },
    }),
  },
  {
    name: 'an intent is not stored before its call',
    store: (store) => ({
      journal: async (writes) => {
        const others = writes.filter((write) => write.type !== 'intent' || write.wait || write.members);
        const answers = await store.journal(others);
        return writes.map((write) => {
          const at = others.indexOf(write);
          return at < 0 ? { is: 'stored' as const } : answers[at]!;
        });
      },
    }),
  },
  {
    name: 'the result of a call is not kept',
    store: (store) => ({
      journal: async (writes) => {
        const answers = await store.journal(
          writes.map((write) => (write.type === 'result' ? { ...write, type: 'look' as const } : write)),
        );
        return answers.map((answer, i) => (writes[i]!.type === 'result' ? { is: 'stored' as const } : answer));
      },
    }),
  },
  {
    name: 'a fenced delivery starts calls',
    store: (store, db) => ({
      journal: async (writes) => {
        for (const write of writes) if (write.type === 'intent') await reopen(db, write.fence);
        return store.journal(writes);
      },
    }),
  },
];

const OF_CANCELS: readonly Bug[] = [
  { name: 'the row of a cancel is ignored', store: () => ({ cancelling: () => Promise.resolve([]) }) },
  { name: 'a cancel forgets what is waited for at vendors', store: () => ({ openWaitsOf: () => Promise.resolve([]) }) },
  {
    name: 'a cancel skips items with a paid call open',
    store: (store, db) => ({
      endCancelled: async (no) => {
        const ended = await store.endCancelled(no);
        await sql`update outcomes set outcome = 'skipped', body = '{"reason":"cancelled"}'
          where job_no = ${no} and outcome = 'needs_review' and body like '%unknown_charge%'`.execute(db);
        return ended;
      },
    }),
  },
];

/** Open items of a set, as the store has them for a unit. */
async function found(store: Store, no: number, set: Parameters<Store['recover']>[3]) {
  const { open, elsewhere, nextDue } = await store.openItems(no, set, 'run');
  return { open: { run: fromIndexes(open.map(({ index }) => index)), ...elsewhere }, nextDue };
}

const OF_THE_REST: readonly Bug[] = [
  {
    name: 'a lost unit is not closed',
    store: (store) => ({ recover: (no, _generation, _seq, set) => found(store, no, set) }),
  },
  {
    name: 'parked items are forgotten',
    activities: (activities) => ({
      runUnit: async (...args) => ({ ...(await activities.runUnit(...args)), nextDue: null }),
    }),
  },
  {
    name: 'an item gets an attempt more than it may have',
    store: (store) => ({
      openUnit: async (...args) => {
        const job = await store.openUnit(...args);
        return job && { ...job, plan: { ...job.plan, maxAttempts: job.plan.maxAttempts + 1 } };
      },
    }),
  },
  {
    name: 'a submit that is repeated is another job',
    store: (store) => ({ seal: (upload, job) => store.seal(upload, { ...job, idempotency: null }) }),
  },
];

/** Faults of the product, each planted alone: the simulator finds every one of them. */
export const BUGS: readonly Bug[] = [...OF_FLUSHES, ...OF_CALLS, ...OF_CANCELS, ...OF_THE_REST];
