import { sql } from 'kysely';
import { fromIndexes } from '../../model/index-set';
import { STUCK_ROUNDS } from '../../model/pace';
import { JOB_TRANSITIONS, endState, type JobState, type Outcome, type OutcomeCounts } from '../../model/states';
import type { Statement, Units } from '../port';
import { endCancelled } from './cancelling';
import type { Database, SqlDialect } from './dialect';
import { addLogLines, became } from './log';
import { SCAN_CHUNK, earliestDue, findOpen } from './scan';
import { stateAccount } from './statement';

/** Most items that finalize names as missing; the machine comes back for the rest. */
const MISSING_LIMIT = 1_000;

/** The store's part in ending a job. */
export function createClosing(dialect: SqlDialect, now: () => number): Pick<Units, 'endCancelled' | 'finalize'> {
  const { read, write } = dialect;
  return {
    endCancelled: (no) => endCancelled(dialect, no, now),

    finalize: async (no, round) => {
      const job = await read((db) =>
        db.selectFrom('jobs').select(['items', 'state', 'finished_at']).where('no', '=', no).executeTakeFirst(),
      );
      if (!job) throw new Error(`there is no job number ${no}`);
      if (job.finished_at !== null) return { state: job.state as JobState };
      // Outcomes are never removed, so that a count taken before the transaction holds within it.
      const { outcomes, attempts } = await countOutcomes(dialect, no, job.items);
      const ended = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
      if (ended !== job.items) return reportMissing(dialect, no, job.items, round, now());
      return { state: await write((trx) => closeJob(trx, no, { items: job.items, outcomes, attempts }, now())) };
    },
  };
}

async function countOutcomes(
  dialect: SqlDialect,
  no: number,
  items: number,
): Promise<{ outcomes: OutcomeCounts; attempts: number }> {
  const outcomes: Record<Outcome, number> = { succeeded: 0, failed: 0, needs_review: 0, skipped: 0 };
  let attempts = 0;
  for (let lo = 0; lo < items; lo += SCAN_CHUNK) {
    const rows = await dialect.read((db) =>
      db
        .selectFrom('outcomes')
        .select(['outcome', sql<number>`count(*)`.as('count'), sql<number>`sum(attempts)`.as('attempts')])
        .where('job_no', '=', no)
        .where('idx', '>=', lo)
        .where('idx', '<', lo + SCAN_CHUNK)
        .groupBy('outcome')
        .execute(),
    );
    for (const row of rows) {
      outcomes[row.outcome as Outcome] += Number(row.count);
      attempts += Number(row.attempts);
    }
  }
  return { outcomes, attempts };
}

/** What its items came to; they have all ended. */
type ItemsAccount = Pick<Statement, 'items' | 'outcomes' | 'attempts'>;

/** Writes the statement and the end state, if nobody has; the state that the job now has. */
async function closeJob(trx: Database, no: number, account: ItemsAccount, at: number): Promise<JobState> {
  const statement = await stateAccount(trx, no, account, at);
  const state = endState(account.outcomes);
  const closed = await trx
    .updateTable('jobs')
    .set({
      ...account.outcomes,
      state,
      paused: 0,
      finished_at: at,
      touched_at: at,
      statement: JSON.stringify(statement),
    })
    .where('no', '=', no)
    .where('state', 'in', [...JOB_TRANSITIONS['finish']!.from])
    .executeTakeFirst();
  if (closed.numUpdatedRows === 0n) {
    const row = await trx.selectFrom('jobs').select('state').where('no', '=', no).executeTakeFirstOrThrow();
    return row.state as JobState;
  }
  // The journal stays, and the batches that kept their members: a job that retries this one inherits them. A wait left
  // here would hold a place for ever.
  for (const table of ['units', 'parked', 'waits'] as const) {
    await trx.deleteFrom(table).where('job_no', '=', no).execute();
  }
  await addLogLines(trx, no, at, [became(state, `closed as ${state}`)]);
  return state;
}

async function reportMissing(
  dialect: SqlDialect,
  no: number,
  items: number,
  round: number,
  at: number,
): ReturnType<Units['finalize']> {
  const missing = await findOpen(dialect, no, items, { dueBy: at, limit: MISSING_LIMIT });
  await dialect.write(async (trx) => {
    await trx
      .updateTable('jobs')
      .set({ finalize_rounds: round + 1, touched_at: at })
      .where('no', '=', no)
      .execute();
    const level = round + 1 >= STUCK_ROUNDS ? 'error' : 'warn';
    const message = `items without an outcome when the job was to close (round ${round + 1}): ${missing.length} of them sent again`;
    await addLogLines(trx, no, at, [{ level, source: 'runner', message }]);
  });
  return { missing: fromIndexes(missing), nextDue: await earliestDue(dialect, no, at) };
}
