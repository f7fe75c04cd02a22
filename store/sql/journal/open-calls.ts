import { sql } from 'kysely';
import { decode, fromIndexes, indexes, subtract, type IndexSet } from '../../../model/index-set';
import type { Database, SqlDialect } from '../dialect';
import { endedOf } from '../reading';

/** A paid call whose answer is not known: whoever finds it has to ask the vendor. */
export interface OpenCall {
  readonly call: string;
  readonly vendor: string | null;
  readonly key: string;
  readonly remoteId: string | null;
}

interface OpenCallRow {
  call: string;
  vendor: string | null;
  key: string;
  remote_id: string | null;
}

/** A stretch of a job: `lo <= index < hi`. */
export interface Stretch {
  readonly no: number;
  readonly rootNo: number;
  readonly lo: number;
  readonly hi: number;
}

const OPEN = sql`j.state <> 'done' and j.kind in ('vendor', 'start')`;

/** The open calls of a job by the items they are for: their own, and those of the batches that they keep to. */
export async function openCalls(db: Database, { no, rootNo, lo, hi }: Stretch): Promise<Map<number, OpenCall[]>> {
  const calls = new Map<number, OpenCall[]>();
  const note = (idx: number, { call, vendor, key, remote_id: remoteId }: OpenCallRow): void => {
    calls.set(idx, [...(calls.get(idx) ?? []), { call, vendor, key, remoteId }]);
  };
  const own = await sql<OpenCallRow & { idx: number }>`
    select i.idx, j.call, j.vendor, j.key, j.remote_id from journal j cross join items i
    where j.root_no = ${rootNo} and ${OPEN} and substr(j.subject, 1, 2) = 'i:'
      and i.job_no = ${no} and i.id = substr(j.subject, 3) and i.idx >= ${lo} and i.idx < ${hi}`.execute(db);
  for (const row of own.rows) note(row.idx, row);
  const batches = await sql<OpenCallRow & { members: string }>`
    select b.members, j.call, j.vendor, j.key, j.remote_id from journal j cross join batches b
    where j.root_no = ${rootNo} and ${OPEN} and substr(j.subject, 1, 2) = 'b:'
      and b.job_no = ${no} and b.subject = j.subject and b.lo < ${hi} and b.hi > ${lo}`.execute(db);
  for (const row of batches.rows) {
    for (const idx of indexes(decode(row.members))) if (idx >= lo && idx < hi) note(idx, row);
  }
  return calls;
}

/** Open items of a job with a call whose answer is not known. */
export async function openIntents(dialect: SqlDialect, db: Database, no: number): Promise<IndexSet> {
  const job = await db.selectFrom('jobs').select(['root_no', 'items']).where('no', '=', no).executeTakeFirst();
  if (!job) return [];
  const calls = await openCalls(db, { no, rootNo: Number(job.root_no), lo: 0, hi: job.items });
  const called = fromIndexes(calls.keys());
  return subtract(called, await endedOf(dialect, db, no, called));
}
