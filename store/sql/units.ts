import { sql } from 'kysely';
import { fromIndexes, has, type IndexSet } from '../../model/index-set';
import { JOB_TRANSITIONS } from '../../model/states';
import type { Fence, JobRecord, OpenItem, Units } from '../port';
import type { Database, SqlDialect } from './dialect';
import { createClosing } from './closing';
import { toJob } from './rows';
import { earliestDue, findOpen } from './scan';
import { settleFlush } from './settle';

const OPEN_STATES = [...JOB_TRANSITIONS['finish']!.from];

export function createUnits(dialect: SqlDialect, now: () => number): Units {
  const { read, write } = dialect;
  return {
    ...createClosing(dialect, now),

    workflowStarted: (no, generation) =>
      write(async (trx) => {
        const heard = await trx
          .updateTable('jobs')
          .set({ workflow_started_at: now(), touched_at: now() })
          .where('no', '=', no)
          .where('generation', '=', generation)
          .where('finished_at', 'is', null)
          .executeTakeFirst();
        if (heard.numUpdatedRows === 0n) return;
        await trx
          .updateTable('jobs')
          .set({ state: 'expanding' })
          .where('no', '=', no)
          .where('state', 'in', [...JOB_TRANSITIONS['start']!.from])
          .execute();
      }),

    beginning: (no) => findBeginning(dialect, no),
    openUnit: (fence, unit) => write((trx) => openUnit(trx, fence, unit, now())),
    openItems: (no, set) => read((db) => openItems(dialect, db, no, set, now())),

    inputs: (no, set) =>
      read(async (db) => {
        const { rows } = await sql<{ index: number; id: string; input: string }>`
          select i.idx as "index", i.id, i.input from ${dialect.ranges(set)}
          cross join items i where i.job_no = ${no} and i.idx >= s.lo and i.idx < s.hi`.execute(db);
        return rows.sort((a, b) => a.index - b.index);
      }),

    settle: (flushes) =>
      write(async (trx) => {
        const accepted: boolean[] = [];
        for (const flush of flushes) accepted.push(await settleFlush(dialect, trx, flush, now()));
        return accepted;
      }),

    recover: async (no, generation, seq, set) => {
      // A row is written even where the unit was never opened: a delivery that comes late must not open it.
      await write(async (trx) => {
        await trx
          .insertInto('units')
          .values({
            job_no: no,
            generation,
            seq,
            delivery: '',
            worker: '',
            size: 0,
            running: 0,
            opened_at: now(),
            closed: 1,
          })
          .onConflict((oc) =>
            oc.columns(['job_no', 'generation', 'seq']).doUpdateSet({ closed: 1, running: 0, progress: null }),
          )
          .execute();
      });
      const { open, nextDue } = await read((db) => openItems(dialect, db, no, set, now()));
      return { open: fromIndexes(open.map((item) => item.index)), nextDue };
    },

    due: (no, exclude, limit) => read((db) => findDue(db, no, exclude, limit, now())),

    cancelling: (jobNos) =>
      read(async (db) => {
        if (jobNos.length === 0) return [];
        const rows = await db
          .selectFrom('jobs')
          .select('no')
          .where('no', 'in', [...jobNos])
          .where('cancel_at', 'is not', null)
          .execute();
        return rows.map((row) => Number(row.no));
      }),
  };
}

/** Below every due time. */
const NEVER = -1;

async function findBeginning(dialect: SqlDialect, no: number): Promise<{ cursor: number; nextDue: number | null }> {
  const { items } = await dialect.read((db) =>
    db.selectFrom('jobs').select('items').where('no', '=', no).executeTakeFirstOrThrow(),
  );
  const [cursor = items] = await findOpen(dialect, no, items, { dueBy: NEVER, limit: 1 });
  return { cursor, nextDue: await earliestDue(dialect, no, NEVER) };
}

async function openUnit(
  trx: Database,
  fence: Fence,
  unit: { worker: string; size: number; running: number },
  at: number,
): Promise<JobRecord | undefined> {
  const row = await trx
    .selectFrom('jobs')
    .selectAll()
    .where('no', '=', fence.jobNo)
    .where('generation', '=', fence.generation)
    .where('state', 'in', OPEN_STATES)
    .executeTakeFirst();
  if (!row) return undefined;
  const opened = await trx
    .insertInto('units')
    .values({
      job_no: fence.jobNo,
      generation: fence.generation,
      seq: fence.seq,
      delivery: fence.delivery,
      ...unit,
      opened_at: at,
      closed: 0,
    })
    .onConflict((oc) =>
      oc
        .columns(['job_no', 'generation', 'seq'])
        .doUpdateSet({ delivery: fence.delivery, ...unit, progress: null, opened_at: at })
        .where('units.closed', '=', 0),
    )
    .returning('seq')
    .executeTakeFirst();
  if (!opened) return undefined;
  const first = JOB_TRANSITIONS['firstUnit']!.from.some((state) => state === row.state);
  const started = await trx
    .updateTable('jobs')
    .set({ touched_at: at, ...(first && { state: 'running' }), ...(row.started_at === null && { started_at: at }) })
    .where('no', '=', fence.jobNo)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toJob(started);
}

async function openItems(
  dialect: SqlDialect,
  db: Database,
  no: number,
  set: IndexSet,
  at: number,
): Promise<{ open: OpenItem[]; nextDue: number | null }> {
  const { rows } = await sql<{
    idx: number;
    bytes: number;
    due: number | null;
    attempts: number | null;
    deferrals: number | null;
    deferred_since: number | null;
  }>`
    select i.idx, ${dialect.bytes('i.input')} as bytes, p.due, p.attempts, p.deferrals, p.deferred_since
    from ${dialect.ranges(set)}
    cross join items i
    left join outcomes o on o.job_no = i.job_no and o.idx = i.idx
    left join parked p on p.job_no = i.job_no and p.idx = i.idx
    where i.job_no = ${no} and i.idx >= s.lo and i.idx < s.hi and o.idx is null`.execute(db);
  // Sorted here: within the statement, a sort would carry the texts along.
  rows.sort((a, b) => a.idx - b.idx);
  const open: OpenItem[] = [];
  let nextDue: number | null = null;
  for (const row of rows) {
    const due = row.due === null ? null : Number(row.due);
    if (due !== null && due > at) {
      nextDue = Math.min(nextDue ?? due, due);
      continue;
    }
    const history = {
      attempts: row.attempts ?? 0,
      deferrals: row.deferrals ?? 0,
      deferredSince: row.deferred_since === null ? null : Number(row.deferred_since),
    };
    open.push({ index: row.idx, bytes: Number(row.bytes), history });
  }
  return { open, nextDue };
}

async function findDue(
  db: Database,
  no: number,
  exclude: IndexSet,
  limit: number,
  at: number,
): Promise<{ set: IndexSet; more: boolean; nextDue: number | null }> {
  const taken: number[] = [];
  let more = false;
  let nextDue: number | null = null;
  // Items in hand are left out here and not in SQL: there are few of them, and the ranges are already sorted.
  const PAGE = 2_000;
  let after = { due: 0, idx: -1 };
  scan: for (;;) {
    const rows = await db
      .selectFrom('parked')
      .select(['idx', 'due'])
      .where('job_no', '=', no)
      .where(sql<boolean>`(due, idx) > (${after.due}, ${after.idx})`)
      .orderBy('due')
      .orderBy('idx')
      .limit(PAGE)
      .execute();
    for (const row of rows) {
      if (has(exclude, row.idx)) continue;
      if (Number(row.due) > at) {
        nextDue = Number(row.due);
        break scan;
      }
      if (taken.length === limit) {
        more = true;
        break scan;
      }
      taken.push(row.idx);
    }
    const last = rows[rows.length - 1];
    if (rows.length < PAGE || !last) break;
    after = { due: Number(last.due), idx: last.idx };
  }
  return { set: fromIndexes(taken), more, nextDue };
}
