import { sql } from 'kysely';
import { FRESH } from '../../model/attempts';
import { fromIndexes, type IndexSet } from '../../model/index-set';
import type { ItemInput, OpenItem, OpenItems, ParkKind, Units } from '../port';
import type { Database, SqlDialect } from './dialect';
import { toHistory, type HistoryRow } from './rows';
import { answersOf } from './waits';

interface ParkedRow extends HistoryRow {
  readonly idx: number;
  readonly kind: ParkKind;
  readonly due: number;
}

/** What is to be done with the items of a set that have no outcome. */
export async function openItems(
  dialect: SqlDialect,
  db: Database,
  no: number,
  set: IndexSet,
  lane: Parameters<Units['openItems']>[2],
  at: number,
): Promise<OpenItems> {
  // Parkings come first: what ends after they were read is left out by its outcome.
  const parked = await parkedOf(dialect, db, no, set);
  const { rows } = await sql<{ idx: number; bytes: number }>`
    select i.idx, ${dialect.bytes('i.input')} as bytes
    from ${dialect.ranges(set)}
    cross join items i
    left join outcomes o on o.job_no = i.job_no and o.idx = i.idx
    where i.job_no = ${no} and i.idx >= s.lo and i.idx < s.hi and o.idx is null`.execute(db);
  // Sorted here: within the statement, a sort would carry the texts along.
  rows.sort((a, b) => a.idx - b.idx);
  const open: OpenItem[] = [];
  const check: number[] = [];
  const quarantine: number[] = [];
  let nextDue: number | null = null;
  for (const { idx, bytes } of rows) {
    const row = parked.get(idx);
    const due = row ? Number(row.due) : at;
    if (lane !== 'all' && due > at) nextDue = Math.min(nextDue ?? due, due);
    else if (lane !== 'all' && row?.kind === 'wait') check.push(idx);
    else if (lane === 'run' && row?.kind === 'suspect') quarantine.push(idx);
    else open.push({ index: idx, bytes: Number(bytes), history: row ? toHistory(row) : FRESH });
  }
  return { open, elsewhere: { check: fromIndexes(check), quarantine: fromIndexes(quarantine) }, nextDue };
}

/** Apart from the items, since few of them are parked. */
async function parkedOf(dialect: SqlDialect, db: Database, no: number, set: IndexSet): Promise<Map<number, ParkedRow>> {
  const { rows } = await sql<ParkedRow>`
    select p.idx, p.kind, p.due, p.attempts, p.deferrals, p.deferred_since, p.returns
    from ${dialect.ranges(set)} cross join parked p
    where p.job_no = ${no} and p.idx >= s.lo and p.idx < s.hi`.execute(db);
  return new Map(rows.map((row) => [row.idx, row]));
}

/** The items' inputs, ascending, and the answers that they go on with. */
export async function inputs(dialect: SqlDialect, db: Database, no: number, set: IndexSet): Promise<ItemInput[]> {
  const answers = await answersOf(dialect, db, no, set);
  const { rows } = await sql<{ -readonly [Key in keyof ItemInput]: ItemInput[Key] }>`
    select i.idx as "index", i.id, i.input from ${dialect.ranges(set)}
    cross join items i where i.job_no = ${no} and i.idx >= s.lo and i.idx < s.hi`.execute(db);
  // Added to the rows as they are: a column more, or a copy of each, is felt with every item there is.
  for (const row of rows) row.resume = answers.get(row.index) ?? null;
  return rows.sort((a, b) => a.index - b.index);
}

/** Those of the set that have an outcome. */
export async function endedOf(dialect: SqlDialect, db: Database, no: number, set: IndexSet): Promise<IndexSet> {
  const { rows } = await sql<{ idx: number }>`
    select o.idx from ${dialect.ranges(set)} cross join outcomes o
    where o.job_no = ${no} and o.idx >= s.lo and o.idx < s.hi`.execute(db);
  return fromIndexes(rows.map((row) => row.idx));
}
