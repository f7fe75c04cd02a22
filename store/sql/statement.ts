import { sql } from 'kysely';
import type { JobState } from '../../model/states';
import type { Phases, Statement } from '../port';
import type { Database } from './dialect';

/** The account of a job whose items have all ended, as it stands at `at`. */
export async function stateAccount(
  trx: Database,
  no: number,
  account: Pick<Statement, 'items' | 'outcomes' | 'attempts'>,
  at: number,
): Promise<Statement> {
  const job = await trx
    .selectFrom('jobs')
    .select(['root_no', 'created_at', 'started_at', 'deferrals', 'waits', 'recoveries', 'vendor_calls'])
    .where('no', '=', no)
    .executeTakeFirstOrThrow();
  return {
    ...account,
    deferrals: Number(job.deferrals),
    waits: Number(job.waits),
    recoveries: Number(job.recoveries),
    vendorCalls: { made: Number(job.vendor_calls), unanswered: await countUnanswered(trx, no, Number(job.root_no)) },
    usage: await sumUsage(trx, no),
    phases: await sumPhases(trx, no, job, at),
  };
}

/** In which part of the account a job's time in a state is. */
const PHASE_OF: Readonly<Partial<Record<JobState, keyof Phases>>> = {
  accepted: 'queuedMs',
  expanding: 'queuedMs',
  running: 'runningMs',
  paused: 'pausedMs',
  cancelling: 'cancellingMs',
};

/** Adds up how long the job was in which state, as its log has them. */
async function sumPhases(
  trx: Database,
  no: number,
  job: { readonly created_at: number | string; readonly started_at: number | string | null },
  at: number,
): Promise<Phases> {
  const changes = await trx
    .selectFrom('job_log')
    .select(['at', 'state'])
    .where('job_no', '=', no)
    .where('state', 'is not', null)
    .orderBy('no')
    .execute();
  const phases = { queuedMs: 0, runningMs: 0, pausedMs: 0, cancellingMs: 0 };
  let since = Number(job.created_at);
  let phase: keyof Phases = 'queuedMs';
  const until = (end: number): void => {
    // A clock that was set back takes no time away.
    phases[phase] += Math.max(0, end - since);
    since = Math.max(since, end);
  };
  // A job of a release that kept no states in the log has its first unit at least.
  const known = changes.length > 0 || job.started_at === null;
  for (const change of known ? changes : [{ at: job.started_at, state: 'running' }]) {
    until(Number(change.at));
    phase = PHASE_OF[change.state as JobState] ?? phase;
  }
  until(at);
  return phases;
}

/** Calls that this job was the first to make, and of which nobody knows what came. */
async function countUnanswered(trx: Database, no: number, rootNo: number): Promise<number> {
  const row = await trx
    .selectFrom('journal')
    .select(sql<number>`count(*)`.as('count'))
    .where('root_no', '=', rootNo)
    .where('state', '<>', sql.lit('done'))
    .where('kind', 'in', ['vendor', 'start'])
    .where('job_no', '=', no)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

async function sumUsage(trx: Database, no: number): Promise<Record<string, number>> {
  const usage = await trx
    .selectFrom('usage')
    .select(['name', sql<number>`sum(quantity)`.as('quantity')])
    .where('job_no', '=', no)
    .groupBy('name')
    .execute();
  return Object.fromEntries(usage.map((row) => [row.name, Number(row.quantity)]));
}
