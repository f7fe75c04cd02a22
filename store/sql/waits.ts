import { sql } from 'kysely';
import { fromIndexes, type IndexSet } from '../../model/index-set';
import type { CheckedWaits, ItemInput, OpenWait } from '../port';
import type { Database, SqlDialect } from './dialect';
import { toHistory, type HistoryRow } from './rows';

/** Removes the waits of items that have ended. Most jobs have none, and are to pay no more than one look for that. */
export async function endWaits(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  ended: readonly { readonly index: number }[],
): Promise<void> {
  const any = await trx.selectFrom('waits').select('idx').where('job_no', '=', no).limit(1).executeTakeFirst();
  if (!any) return;
  const set = fromIndexes(ended.map((item) => item.index));
  await sql`
    delete from waits where job_no = ${no} and idx in
      (select w.idx from ${dialect.ranges(set)} cross join waits w
       where w.job_no = ${no} and w.idx >= s.lo and w.idx < s.hi)`.execute(trx);
}

/** Writes what checks found: who is asked about again and when, and who goes on with an answer. */
export async function noteChecks(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  checked: CheckedWaits,
  at: number,
): Promise<void> {
  for (const { set, due, failed } of checked.pending) {
    await sql`
      update parked set due = ${due}, checks = checks + ${failed ? 0 : 1},
        check_errors = case when ${failed ? 1 : 0} = 1 then check_errors + 1 else 0 end
      where job_no = ${no} and kind = 'wait' and idx in
        (select p.idx from ${dialect.ranges(set)} cross join parked p
         where p.job_no = ${no} and p.idx >= s.lo and p.idx < s.hi)`.execute(trx);
  }
  await answer(dialect, trx, no, checked.answered, at);
}

async function answer(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  answered: CheckedWaits['answered'],
  at: number,
): Promise<void> {
  if (answered.length === 0) return;
  const { column, from, ranges } = dialect;
  const answers = new Map(answered.map((item) => [item.index, JSON.stringify(item.answer) ?? 'null']));
  const { rows: open } = await sql<{ idx: number; ordinal: number }>`
    select w.idx, w.ordinal from ${ranges(fromIndexes(answers.keys()))}
    cross join parked p cross join waits w
    where p.job_no = ${no} and p.idx >= s.lo and p.idx < s.hi and p.kind = 'wait'
      and w.job_no = p.job_no and w.idx = p.idx and w.answered = 0`.execute(trx);
  if (open.length === 0) return;
  const rows = from(open.map((wait) => [no, wait.idx, wait.ordinal, answers.get(wait.idx)]));
  const items = sql`select ${column(1, 'integer')} from ${rows}`;
  // The answer that the item went on with until now has been used.
  await sql`delete from waits where job_no = ${no} and answered = 1 and idx in (${items})`.execute(trx);
  await sql`
    update waits set answered = 1, answer = r.answer
    from (select ${column(0, 'integer')} as job_no, ${column(1, 'integer')} as idx, ${column(2, 'integer')} as ordinal,
      ${column(3, 'text')} as answer from ${rows}) as r
    where waits.job_no = r.job_no and waits.idx = r.idx and waits.ordinal = r.ordinal`.execute(trx);
  await sql`update parked set kind = 'answer', due = ${at} where job_no = ${no} and idx in (${items})`.execute(trx);
}

interface WaitRow extends HistoryRow {
  readonly idx: number;
  readonly name: string;
  readonly remote_id: string;
  readonly since: number;
  readonly checks: number | null;
  readonly check_errors: number | null;
}

function toOpenWait(row: WaitRow): OpenWait {
  return {
    index: row.idx,
    wait: row.name,
    remoteId: row.remote_id,
    since: Number(row.since),
    checks: row.checks ?? 0,
    errors: row.check_errors ?? 0,
    history: toHistory(row),
  };
}

const WAIT_COLUMNS = sql.raw(
  'w.idx, w.name, w.remote_id, w.since, p.checks, p.check_errors, p.attempts, p.deferrals, p.deferred_since, p.returns',
);

/** The due waits of the set, ascending, and when the earliest of the others is due. */
export async function openWaits(
  dialect: SqlDialect,
  db: Database,
  no: number,
  set: IndexSet,
  at: number,
): Promise<{ waits: OpenWait[]; nextDue: number | null }> {
  const { rows } = await sql<WaitRow & { due: number }>`
    select ${WAIT_COLUMNS}, p.due from ${dialect.ranges(set)}
    cross join parked p
    cross join waits w
    where p.job_no = ${no} and p.idx >= s.lo and p.idx < s.hi and p.kind = 'wait'
      and w.job_no = p.job_no and w.idx = p.idx and w.answered = 0 and w.remote_id is not null`.execute(db);
  rows.sort((a, b) => a.idx - b.idx);
  const later = rows.map((row) => Number(row.due)).filter((due) => due > at);
  const waits = rows.filter((row) => Number(row.due) <= at).map(toOpenWait);
  return { waits, nextDue: later.length === 0 ? null : later.reduce((one, other) => Math.min(one, other)) };
}

/** A page of the waits of a job that a vendor knows of, whatever their items do now. */
export async function openWaitsOf(
  db: Database,
  no: number,
  page: { after: number; limit: number },
): Promise<OpenWait[]> {
  const { rows } = await sql<WaitRow>`
    select ${WAIT_COLUMNS} from waits w
    left join parked p on p.job_no = w.job_no and p.idx = w.idx
    where w.job_no = ${no} and w.idx > ${page.after} and w.answered = 0 and w.remote_id is not null
    order by w.idx limit ${page.limit}`.execute(db);
  return rows.map(toOpenWait);
}

/** The answers that items of the set go on with, by index. Apart from the items, since hardly any job has waits. */
export async function answersOf(
  dialect: SqlDialect,
  db: Database,
  no: number,
  set: IndexSet,
): Promise<Map<number, NonNullable<ItemInput['resume']>>> {
  const { rows } = await sql<{ idx: number; name: string; ordinal: number; answer: string }>`
    select w.idx, w.name, w.ordinal, w.answer from ${dialect.ranges(set)} cross join waits w
    where w.job_no = ${no} and w.idx >= s.lo and w.idx < s.hi and w.answered = 1`.execute(db);
  return new Map(
    rows.map((row) => [row.idx, { wait: row.name, ordinal: row.ordinal, answer: JSON.parse(row.answer) as unknown }]),
  );
}
