import { sql } from 'kysely';
import { fromIndexes, indexes, range, take, type IndexSet } from '../../model/index-set';
import { LOSS_LIMIT } from '../../model/quarantine';
import type { ErrorInfo, Fence, StartedItem } from '../port';
import type { Database, SqlDialect } from './dialect';
import { passesFence } from './fence';
import { addLogLines } from './log';
import { parkOpen } from './parking';

/** How long an item whose process died is left alone, ms. */
const AFTER_DEATH_MS = 1_000;

/** Ids that a line of the job's log names. */
const NAMED = 10;

const LOST: ErrorInfo = {
  code: 'lost',
  message: 'the worker that had it was lost, and nobody could say whether it ran',
};

/**
 * Closes a lost unit. Which of its items had started is not known where no supervisor has told: each that could have is
 * held to have been there once more.
 */
export async function closeLost(
  dialect: SqlDialect,
  trx: Database,
  unit: { no: number; generation: number; seq: number },
  set: IndexSet,
  at: number,
): Promise<void> {
  const { no, generation, seq } = unit;
  const job = await trx.selectFrom('jobs').select('finished_at').where('no', '=', no).executeTakeFirst();
  // Of a job that has ended there is nothing left to be opened.
  if (!job || job.finished_at !== null) return;
  const before = await trx
    .selectFrom('units')
    .select(['closed', 'accounted'])
    .where('job_no', '=', no)
    .where('generation', '=', generation)
    .where('seq', '=', seq)
    .executeTakeFirst();
  // A row is written even where the unit was never opened: a delivery that comes late must not open it.
  const opening = { delivery: '', worker: '', size: 0, running: 0, opened_at: at };
  await trx
    .insertInto('units')
    .values({ job_no: no, generation, seq, ...opening, closed: 1 })
    .onConflict((oc) =>
      oc.columns(['job_no', 'generation', 'seq']).doUpdateSet({ closed: 1, running: 0, progress: null }),
    )
    .execute();
  // Only what was open can have died: a second call, or one for a unit that never came, counts nothing.
  if (before?.closed !== 0) return;
  await trx
    .updateTable('jobs')
    .set((eb) => ({ recoveries: eb('recoveries', '+', 1), touched_at: at }))
    .where('no', '=', no)
    .execute();
  if (before.accounted === 0) await countLosses(dialect, trx, no, set, at);
}

async function countLosses(dialect: SqlDialect, trx: Database, no: number, set: IndexSet, at: number): Promise<void> {
  const last = sql`parked.losses + 1 >= ${LOSS_LIMIT}`;
  await parkOpen(
    dialect,
    trx,
    no,
    set,
    { kind: 'retry', due: at, losses: 1, error: LOST },
    {
      narrow: sql`(p.due <= ${at} and p.kind <> 'wait')`,
      change: sql`losses = parked.losses + 1,
        kind = case when ${last} then 'suspect' else parked.kind end,
        due = case when ${last} then excluded.due else parked.due end,
        error = case when ${last} then excluded.error else parked.error end`,
    },
  );
}

/** Makes suspects of the items that had started in a worker that died; how many. */
export async function suspect(
  dialect: SqlDialect,
  trx: Database,
  items: readonly StartedItem[],
  why: ErrorInfo,
  at: number,
): Promise<number> {
  let count = 0;
  for (const no of new Set(items.map((item) => item.jobNo))) {
    const job = await trx
      .selectFrom('jobs')
      .select('generation')
      .where('no', '=', no)
      .where('finished_at', 'is', null)
      .executeTakeFirst();
    const current = items.filter((item) => item.jobNo === no && item.generation === job?.generation);
    if (current.length === 0) continue;
    await trx
      .updateTable('units')
      .set({ accounted: 1 })
      .where('job_no', '=', no)
      .where('generation', '=', current[0]!.generation)
      .where('seq', 'in', [...new Set(current.map((item) => item.seq))])
      .execute();
    count += await suspectOf(dialect, trx, no, fromIndexes(current.map((item) => item.index)), why, at);
  }
  return count;
}

async function suspectOf(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  set: IndexSet,
  why: ErrorInfo,
  at: number,
): Promise<number> {
  const rows = await parkOpen(
    dialect,
    trx,
    no,
    set,
    { kind: 'suspect', due: at, error: why },
    {
      // What is parked for later has not been running; a wait is never run.
      narrow: sql`(p.kind <> 'wait' and not (p.kind in ('retry', 'defer') and p.due > ${at}))`,
      change: sql`kind = excluded.kind, due = excluded.due, error = excluded.error`,
    },
  );
  if (rows.length === 0) return 0;
  const named = take(fromIndexes(rows.map((row) => row.idx)), NAMED).taken;
  const ids = await trx
    .selectFrom('items')
    .select('id')
    .where('job_no', '=', no)
    .where('idx', 'in', [...indexes(named)])
    .orderBy('idx')
    .execute();
  const others = rows.length > ids.length ? ` and ${rows.length - ids.length} more` : '';
  const message = `will run alone, since they ran in a worker that died (${why.message}): ${ids.map(({ id }) => id).join(', ')}${others}`;
  await addLogLines(trx, no, at, [{ level: 'warn', source: 'runner', message }]);
  return rows.length;
}

/** Notes that an item's process died while it ran alone; how often that has happened. */
export async function diedAlone(
  dialect: SqlDialect,
  trx: Database,
  fence: Fence,
  index: number,
  why: ErrorInfo,
  at: number,
): Promise<number> {
  if (!(await passesFence(trx, fence))) return 0;
  const [row] = await parkOpen(
    dialect,
    trx,
    fence.jobNo,
    range(index, index + 1),
    { kind: 'suspect', due: at + AFTER_DEATH_MS, error: why, deaths: 1 },
    {
      narrow: sql`true`,
      change: sql`kind = excluded.kind, due = excluded.due, error = excluded.error, deaths = parked.deaths + 1`,
    },
  );
  return row?.deaths ?? 0;
}
