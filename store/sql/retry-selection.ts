import { sql } from 'kysely';
import {
  EMPTY,
  decode,
  fromIndexes,
  has,
  intersect,
  size,
  subtract,
  union,
  type IndexSet,
} from '../../model/index-set';
import { NotRetryable } from '../errors';
import type { JobRecord, LeftOut, OutcomeBody, RetrySelection } from '../port';
import type { Database, SqlDialect } from './dialect';
import { openCalls } from './journal/open-calls';
import { SCAN_CHUNK } from './scan';

/** What a retry takes over from the job that it retries. */
export interface Selected {
  readonly set: IndexSet;
  readonly leftOut: LeftOut;
  /** Batches with an open call that selected items were in. */
  readonly openBatches: readonly string[];
}

/**
 * Finds the items of an ended job that are to be run again.
 * @throws NotRetryable
 */
export async function selectItems(
  dialect: SqlDialect,
  of: JobRecord,
  later: readonly JobRecord[],
  selection: RetrySelection,
): Promise<Selected> {
  const wanted = await findWanted(dialect, of, selection);
  const since = intersect(wanted, await takenSince(dialect, of, later));
  const fresh = subtract(wanted, since);
  const open = await findOpenCalls(dialect, of, fresh);
  const leave = selection.openCalls === 'leave_out' ? open.items : EMPTY;
  const set = subtract(fresh, leave);
  const leftOut = { openCalls: size(leave), retriedSince: size(since) };
  if (set.length === 0) throw new NotRetryable('nothing_left', emptyBecause(leftOut), [], leftOut);
  return { set, leftOut, openBatches: open.batches };
}

function emptyBecause({ openCalls: open, retriedSince }: LeftOut): string {
  const reasons = [
    ...(open > 0 ? [`${open} have a paid call whose answer is not known`] : []),
    ...(retriedSince > 0 ? [`${retriedSince} were retried since`] : []),
  ];
  return `no item is left to be retried${reasons.length > 0 ? `: ${reasons.join(', ')}` : ''}`;
}

function findWanted(dialect: SqlDialect, of: JobRecord, selection: RetrySelection): Promise<IndexSet> {
  if (selection.items) return findNamed(dialect, of, selection.items);
  return findEnded(dialect, of, selection);
}

/** Items that ended with an outcome, or that died. */
async function findEnded(
  { read }: SqlDialect,
  of: JobRecord,
  { outcome = 'failed', deadLettered = false }: RetrySelection,
): Promise<IndexSet> {
  const ended = deadLettered
    ? sql`dead_letters`
    : sql`(select job_no, idx from outcomes where outcome = ${outcome} and outcome <> 'succeeded') as o`;
  let set: IndexSet = EMPTY;
  for (let after = -1; ;) {
    const { rows } = await read((db) =>
      sql<{ idx: number }>`
        select idx from ${ended} where job_no = ${of.no} and idx > ${after} order by idx limit ${SCAN_CHUNK}`.execute(
        db,
      ),
    );
    set = union(set, fromIndexes(rows.map((row) => row.idx)));
    if (rows.length < SCAN_CHUNK) return set;
    after = rows[rows.length - 1]!.idx;
  }
}

async function findNamed(dialect: SqlDialect, of: JobRecord, ids: readonly string[]): Promise<IndexSet> {
  const { column, from, read } = dialect;
  const { rows } = await read((db) =>
    sql<{ id: string; idx: number | null; outcome: string | null }>`
      select r.id, i.idx, o.outcome from (select ${column(0, 'text')} as id from ${from(ids.map((id) => [id]))}) as r
      left join items i on i.job_no = ${of.no} and i.id = r.id
      left join outcomes o on o.job_no = i.job_no and o.idx = i.idx`.execute(db),
  );
  const refuse = (why: 'unknown_items' | 'succeeded_items', what: string, refused: typeof rows): void => {
    if (refused.length > 0)
      throw new NotRetryable(
        why,
        `${refused.length} ${what}`,
        refused.map((row) => row.id),
      );
  };
  refuse(
    'unknown_items',
    'of the items are not in the job',
    rows.filter((row) => row.idx === null),
  );
  refuse(
    'succeeded_items',
    'of the items have succeeded',
    rows.filter((row) => row.outcome === 'succeeded'),
  );
  return fromIndexes(rows.map((row) => row.idx!));
}

/** Items that a later job of the lineage has. */
async function takenSince({ read }: SqlDialect, of: JobRecord, later: readonly JobRecord[]): Promise<IndexSet> {
  let taken: IndexSet = EMPTY;
  for (const job of later) {
    for (let lo = 0; lo < job.items; lo += SCAN_CHUNK) {
      const { rows } = await read((db) =>
        sql<{ idx: number }>`
          select i.idx from items j cross join items i
          where j.job_no = ${job.no} and j.idx >= ${lo} and j.idx < ${lo + SCAN_CHUNK}
            and i.job_no = ${of.no} and i.id = j.id`.execute(db),
      );
      taken = union(taken, fromIndexes(rows.map((row) => row.idx)));
    }
  }
  return taken;
}

async function findOpenCalls(
  { read }: SqlDialect,
  of: JobRecord,
  set: IndexSet,
): Promise<{ items: IndexSet; batches: string[] }> {
  const stretch = { no: of.no, rootNo: of.rootNo, lo: 0, hi: of.items };
  const calls = await read((db) => openCalls(db, stretch));
  const items = intersect(set, fromIndexes(calls.keys()));
  const touched = (await read((db) => batchesOf(db, of.no))).filter(
    ({ members }) => intersect(members, items).length > 0,
  );
  return { items, batches: touched.map(({ subject }) => subject) };
}

/** A batch that kept its members. */
export interface KeptBatch {
  readonly subject: string;
  readonly members: IndexSet;
}

export async function batchesOf(db: Database, no: number): Promise<KeptBatch[]> {
  const rows = await db.selectFrom('batches').select(['subject', 'members']).where('job_no', '=', no).execute();
  return rows.map((row) => ({ subject: row.subject, members: decode(row.members) }));
}

/** The vendor does not have these waits any more: a retry starts them anew instead of asking for them again. */
const GONE = new Set(['wait_timeout', 'wait_expired', 'wait_unknown_id']);

/** A wait that has ended at its vendor, as the journal has it. */
export interface DeadWait {
  readonly subject: string;
  /** JSON: the remote id. */
  readonly result: string;
}

/**
 * Waits of selected items that a retry would ask for in vain. Where a vendor was asked to cancel and did not hear of it,
 * the wait may be alive: it is asked for again.
 */
export async function deadWaits({ read }: SqlDialect, of: JobRecord, set: IndexSet): Promise<DeadWait[]> {
  const found: DeadWait[] = [];
  for (let lo = 0; lo < of.items; lo += SCAN_CHUNK) {
    const { rows } = await read((db) =>
      sql<{ idx: number; id: string; body: string }>`
        select o.idx, i.id, o.body from outcomes o cross join items i
        where o.job_no = ${of.no} and o.idx >= ${lo} and o.idx < ${lo + SCAN_CHUNK}
          and o.outcome in ('failed', 'skipped') and o.outcome <> 'succeeded' and o.body like '%"remoteId"%'
          and i.job_no = o.job_no and i.idx = o.idx`.execute(db),
    );
    for (const row of rows) {
      const { error, remoteId } = JSON.parse(row.body) as OutcomeBody;
      const gone = error ? GONE.has(error.code) : of.cancel?.vendorCancels.failed === 0;
      if (!gone || remoteId === undefined || !has(set, row.idx)) continue;
      found.push({ subject: `i:${row.id}`, result: JSON.stringify(remoteId) });
    }
  }
  return found;
}
