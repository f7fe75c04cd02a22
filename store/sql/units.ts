import { fromIndexes } from '../../model/index-set';
import { JOB_TRANSITIONS } from '../../model/states';
import type { Fence, JobRecord, Units } from '../port';
import type { Database, SqlDialect } from './dialect';
import { createClosing } from './closing';
import { findDue } from './due';
import { addLogLines, became } from './log';
import { closeLost, diedAlone, suspect } from './quarantine';
import { inputs, openItems } from './reading';
import { toJob } from './rows';
import { earliestDue, findOpen } from './scan';
import { settleFlush } from './settle';
import { openWaits } from './waits';

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
        const started = await trx
          .updateTable('jobs')
          .set({ state: 'expanding' })
          .where('no', '=', no)
          .where('state', 'in', [...JOB_TRANSITIONS['start']!.from])
          .executeTakeFirst();
        if (started.numUpdatedRows > 0n) await addLogLines(trx, no, now(), [became('expanding', 'started')]);
      }),

    beginning: (no) => findBeginning(dialect, no),
    openUnit: (fence, unit) => write((trx) => openUnit(trx, fence, unit, now())),
    openItems: (no, set, lane) => read((db) => openItems(dialect, db, no, set, lane, now())),
    openWaits: (no, set) => read((db) => openWaits(dialect, db, no, set, now())),
    inputs: (no, set) => read((db) => inputs(dialect, db, no, set)),

    settle: (flushes) =>
      write(async (trx) => {
        const accepted: boolean[] = [];
        for (const flush of flushes) accepted.push(await settleFlush(dialect, trx, flush, now()));
        return accepted;
      }),

    recover: async (no, generation, seq, set) => {
      await write((trx) => closeLost(dialect, trx, { no, generation, seq }, set, now()));
      const { open, elsewhere, nextDue } = await read((db) => openItems(dialect, db, no, set, 'run', now()));
      return { open: { run: fromIndexes(open.map((item) => item.index)), ...elsewhere }, nextDue };
    },

    suspect: (items, why) => write((trx) => suspect(dialect, trx, items, why, now())),
    diedAlone: (fence, index, why) => write((trx) => diedAlone(dialect, trx, fence, index, why, now())),
    due: (no, exclude, limit, without) => findDue(dialect, no, { exclude, limit, without }, now()),

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
        .doUpdateSet({ delivery: fence.delivery, ...unit, progress: null, opened_at: at, accounted: 0 })
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
  if (first) await addLogLines(trx, fence.jobNo, at, [became('running', 'its first unit runs')]);
  return toJob(started);
}
