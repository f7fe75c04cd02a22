import { sql } from 'kysely';
import { JOB_TRANSITIONS, isTerminal, type JobState } from '../../model/states';
import type { ItemCounts, JobRecord, Jobs } from '../port';
import { printable } from '../text';
import type { Database, SqlDialect } from './dialect';
import { DROPPED } from './intake';
import { itemViews, withOutcome } from './item-views';
import { addLogLines, readLog } from './log';
import { toJob } from './rows';

export function createJobs(dialect: SqlDialect, now: () => number): Jobs {
  const { read, write } = dialect;

  const change = (
    no: number,
    why: keyof typeof JOB_TRANSITIONS,
    state: JobState,
    set: () => Record<string, unknown>,
  ): Promise<JobRecord> =>
    write(async (trx) => {
      const changed = await trx
        .updateTable('jobs')
        .set({ ...set(), state, touched_at: now() })
        .where('no', '=', no)
        .where('state', 'in', [...JOB_TRANSITIONS[why]!.from])
        .returningAll()
        .executeTakeFirst();
      if (changed)
        await addLogLines(trx, no, now(), [{ level: 'info', source: 'runner', message: `${why} requested`, state }]);
      return toJob(
        changed ?? (await trx.selectFrom('jobs').selectAll().where('no', '=', no).executeTakeFirstOrThrow()),
      );
    });

  return {
    job: (id, tenant) =>
      read(async (db) => {
        const row = await db
          .selectFrom('jobs')
          .selectAll()
          .where('id', '=', id)
          .where('tenant', '=', tenant)
          .executeTakeFirst();
        return row && toJob(row);
      }),

    jobByNo: (no) =>
      read(async (db) => {
        const row = await db.selectFrom('jobs').selectAll().where('no', '=', no).executeTakeFirst();
        return row && toJob(row);
      }),

    jobs: (filter) =>
      read(async (db) => {
        let query = db.selectFrom('jobs').selectAll().where('tenant', '=', filter.tenant);
        if (filter.before !== undefined) query = query.where('no', '<', filter.before);
        if (filter.state) query = query.where('state', '=', filter.state);
        if (filter.capability) query = query.where('capability', '=', filter.capability);
        const { label } = filter;
        if (label) {
          query = query.where('no', 'in', (eb) =>
            eb.selectFrom('job_labels').select('job_no').where('key', '=', label.key).where('value', '=', label.value),
          );
        }
        return (await query.orderBy('no', 'desc').limit(filter.limit).execute()).map(toJob);
      }),

    counts: (job) => read((db) => countItems(db, job)),

    requestCancel: (no, by) =>
      change(no, 'cancel', 'cancelling', () => ({
        paused: 0,
        cancel_at: now(),
        cancel_by: printable(by),
        cancel_running: sql`(select coalesce(sum(running), 0) from units where job_no = ${no} and closed = 0)`,
      })),
    pause: (no) => change(no, 'pause', 'paused', () => ({ paused: 1 })),
    resume: (no) => change(no, 'resume', 'running', () => ({ paused: 0 })),

    deleteJob: (no) =>
      write(async (trx) => {
        const row = await trx
          .selectFrom('jobs')
          .select(['state', 'tenant', 'root_no'])
          .where('no', '=', no)
          .executeTakeFirst();
        if (!row) return true;
        if (!isTerminal(row.state as JobState)) return false;
        await trx.deleteFrom('jobs').where('no', '=', no).execute();
        await trx.deleteFrom('dead_letters').where('job_no', '=', no).execute();
        // What is left is an upload that nobody will seal: the sweep drops its rows, however many, in small steps.
        await trx
          .insertInto('uploads')
          .values({ no, tenant: row.tenant, items: DROPPED, touched_at: 0, root_no: row.root_no })
          .execute();
        return true;
      }),

    items: (job, page) =>
      read((db) =>
        itemViews(db, job, (query) => {
          const from = query.where('items.idx', '>', page.after).orderBy('items.idx').limit(page.limit);
          return page.outcome ? from.where('items.idx', 'in', withOutcome(db, job.no, page.outcome, page)) : from;
        }),
      ),

    item: (job, id) => read(async (db) => (await itemViews(db, job, (query) => query.where('items.id', '=', id)))[0]),

    log: (no, page) => read((db) => readLog(db, no, page)),
    appendLog: (no, line) => write((trx) => addLogLines(trx, no, now(), [line])),
  };
}

/** Adds to what a cancel's receipt says of vendors. */
export async function addVendorCancels(
  trx: Database,
  no: number,
  { sent, failed }: { readonly sent: number; readonly failed: number },
): Promise<void> {
  await trx
    .updateTable('jobs')
    .set((eb) => ({
      vendor_cancels_sent: eb('vendor_cancels_sent', '+', sent),
      vendor_cancels_failed: eb('vendor_cancels_failed', '+', failed),
    }))
    .where('no', '=', no)
    .execute();
}

async function countItems(db: Database, job: JobRecord): Promise<ItemCounts> {
  // The record may be older than the rows below; both are read again here so that the sum is right.
  const row = await db.selectFrom('jobs').selectAll().where('no', '=', job.no).executeTakeFirst();
  const { outcomes, state } = row ? toJob(row) : job;
  const ended = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  if (isTerminal(state)) return { ...outcomes, pending: 0, running: 0, waiting: 0, deferred: 0 };
  const open = job.items - ended;
  const units = await db
    .selectFrom('units')
    .select(({ fn }) => fn.sum<number>('running').as('running'))
    .where('job_no', '=', job.no)
    .where('closed', '=', sql.lit(0))
    .executeTakeFirst();
  const parked = await db
    .selectFrom('parked')
    .select([sql<number>`count(*)`.as('all'), sql<number>`count(case when kind = 'defer' then 1 end)`.as('deferred')])
    .where('job_no', '=', job.no)
    .executeTakeFirstOrThrow();
  const deferred = Math.min(open, Number(parked.deferred));
  const waiting = Math.min(open - deferred, Number(parked.all) - Number(parked.deferred));
  const running = Math.min(open - deferred - waiting, Number(units?.running ?? 0));
  return { ...outcomes, pending: open - deferred - waiting - running, running, waiting, deferred };
}
