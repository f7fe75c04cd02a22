import { sql } from 'kysely';
import { STUCK_ROUNDS } from '../../model/pace';
import { JOB_STATES, type JobState } from '../../model/states';
import type { Gauges, ItemCounts, JobGlance, Observe } from '../port';
import type { Database, SqlDialect } from './dialect';
import { parkedReasons } from './parked-gauges';

/** Gauges, counters and glances. None of its reads looks at every item of a job. */
export function createObserve(dialect: SqlDialect): Observe {
  const { read, write } = dialect;
  return {
    gauges: () => readGauges(dialect),

    count: (name, by) =>
      write(async (trx) => {
        await trx
          .insertInto('counters')
          .values({ name, value: by })
          .onConflict((oc) => oc.column('name').doUpdateSet((eb) => ({ value: eb('counters.value', '+', by) })))
          .execute();
      }),

    counters: () =>
      read(async (db) => {
        const rows = await db.selectFrom('counters').selectAll().execute();
        return Object.fromEntries(rows.map((row) => [row.name, Number(row.value)]));
      }),

    glance: (nos) => read((db) => glance(db, nos)),
  };
}

async function readGauges(dialect: SqlDialect): Promise<Gauges> {
  const { read } = dialect;
  // A read each, so that the event loop gets its turn in between.
  const jobs = await read(countJobs);
  const open = await read(sumOpenJobs);
  const units = await read(sumUnits);
  const parked = await parkedReasons(dialect);
  const deferred = sumOf(parked.filter(({ kind }) => kind === 'defer'));
  const waiting = sumOf(parked) - deferred;
  const { silentSince, stuckJobs, items, ...outcomes } = open;
  const ended = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  // The reads are of slightly different times: nothing is shown as less than nothing.
  const pending = Math.max(0, items - ended - deferred - waiting - units.running);
  const counts: ItemCounts = { ...outcomes, pending, running: units.running, waiting, deferred };
  return { jobs, items: counts, units: units.open, stuckJobs, silentSince, parked };
}

function sumOf(parts: Gauges['parked']): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}

async function countJobs(db: Database): Promise<Record<JobState, number>> {
  const rows = await db
    .selectFrom('jobs')
    .select(['state', sql<number>`count(*)`.as('count')])
    .groupBy('state')
    .execute();
  const counts = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  for (const row of rows) counts[row.state as JobState] = Number(row.count);
  return counts;
}

async function sumOpenJobs(db: Database) {
  const sum = (column: 'items' | 'succeeded' | 'failed' | 'needs_review' | 'skipped') =>
    sql<number>`coalesce(sum(${sql.ref(column)}), 0)`.as(column);
  const row = await db
    .selectFrom('jobs')
    .select([sum('items'), sum('succeeded'), sum('failed'), sum('needs_review'), sum('skipped')])
    .select([
      sql<number>`count(case when finalize_rounds >= ${STUCK_ROUNDS} then 1 end)`.as('stuck'),
      sql<number | null>`min(touched_at)`.as('silent'),
    ])
    .where('finished_at', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    items: Number(row.items),
    succeeded: Number(row.succeeded),
    failed: Number(row.failed),
    needs_review: Number(row.needs_review),
    skipped: Number(row.skipped),
    stuckJobs: Number(row.stuck),
    silentSince: row.silent === null ? null : Number(row.silent),
  };
}

async function sumUnits(db: Database): Promise<{ open: number; running: number }> {
  const row = await db
    .selectFrom('units')
    .select([sql<number>`count(*)`.as('open'), sql<number>`coalesce(sum(running), 0)`.as('running')])
    .where('closed', '=', sql.lit(0))
    .executeTakeFirstOrThrow();
  return { open: Number(row.open), running: Number(row.running) };
}

async function glance(db: Database, nos: readonly number[]): Promise<JobGlance[]> {
  if (nos.length === 0) return [];
  const rows = await db
    .selectFrom('jobs')
    .select(['no', 'state', 'touched_at', 'succeeded', 'failed', 'needs_review', 'skipped'])
    .select((eb) =>
      eb
        .selectFrom('job_log')
        .select(sql<number | null>`max(job_log.no)`.as('newest'))
        .whereRef('job_log.job_no', '=', 'jobs.no')
        .as('newest'),
    )
    .where('no', 'in', [...nos])
    .execute();
  return rows.map((row) => ({
    no: Number(row.no),
    state: row.state as JobState,
    stamp: [row.state, row.touched_at, row.succeeded, row.failed, row.needs_review, row.skipped, row.newest].join(),
    newestLine: Number(row.newest ?? 0),
  }));
}
