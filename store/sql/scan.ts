import { sql } from 'kysely';
import type { SqlDialect } from './dialect';

/**
 * Items that one statement looks at where a whole job is gone through: the statements are many and short, so that
 * heartbeats and other jobs come in between.
 */
export const SCAN_CHUNK = 10_000;

/** The first of the job's `items` that have no outcome and are not parked beyond `dueBy`, at most `limit`. */
export async function findOpen(
  dialect: SqlDialect,
  no: number,
  items: number,
  { dueBy, limit }: { dueBy: number; limit: number },
): Promise<number[]> {
  const found: number[] = [];
  for (let lo = 0; lo < items && found.length < limit; lo += SCAN_CHUNK) {
    const { rows } = await dialect.read((db) =>
      sql<{ idx: number }>`
        select i.idx from items i
        left join outcomes o on o.job_no = i.job_no and o.idx = i.idx
        left join parked p on p.job_no = i.job_no and p.idx = i.idx
        where i.job_no = ${no} and i.idx >= ${lo} and i.idx < ${lo + SCAN_CHUNK}
          and o.idx is null and (p.due is null or p.due <= ${dueBy})
        order by i.idx limit ${limit - found.length}`.execute(db),
    );
    for (const row of rows) found.push(row.idx);
  }
  return found;
}

/** The earliest due time of the job's parked items that is over `after`; null when there is none. */
export async function earliestDue(dialect: SqlDialect, no: number, after: number): Promise<number | null> {
  const row = await dialect.read((db) =>
    db
      .selectFrom('parked')
      .select(({ fn }) => fn.min('due').as('due'))
      .where('job_no', '=', no)
      .where('due', '>', after)
      .executeTakeFirst(),
  );
  return row?.due == null ? null : Number(row.due);
}
