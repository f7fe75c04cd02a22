import { sql, type RawBuilder } from 'kysely';
import type { IndexSet } from '../../model/index-set';
import type { ErrorInfo, ParkKind, ParkedItem, UnitFlush } from '../port';
import type { Database, SqlDialect } from './dialect';

/** What an item shows that a shutdown handed back. */
const RETURNED: ErrorInfo = { code: 'returned', message: 'its worker shut down while it ran' };

/** Parks items after an attempt: it ended, so that what was held against the item for lost workers no longer counts. */
export async function park(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  parked: readonly ParkedItem[],
): Promise<void> {
  if (parked.length === 0) return;
  const { column, from } = dialect;
  const rows = parked.map(({ index, kind, due, history, error }) => [
    index,
    kind,
    due,
    history.attempts,
    history.deferrals,
    history.deferredSince,
    history.returns,
    JSON.stringify(error),
  ]);
  const idx = column(0, 'integer');
  await sql`
    insert into parked (job_no, idx, kind, due, attempts, deferrals, deferred_since, returns, error)
    select ${no}, ${idx}, ${column(1, 'text')}, ${column(2, 'integer')}, ${column(3, 'integer')},
      ${column(4, 'integer')}, ${column(5, 'integer')}, ${column(6, 'integer')}, ${column(7, 'text')}
    from ${from(rows)}
    where not exists (select 1 from outcomes o where o.job_no = ${no} and o.idx = ${idx})
    on conflict (job_no, idx) do update set kind = excluded.kind, due = excluded.due, attempts = excluded.attempts,
      deferrals = excluded.deferrals, deferred_since = excluded.deferred_since, returns = excluded.returns,
      error = excluded.error, losses = 0, checks = 0, check_errors = 0`.execute(trx);
}

/** Keeps the history of items that a shutdown broke off. They are due, as what they were. */
export async function giveBack(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  returned: NonNullable<UnitFlush['returned']>,
  at: number,
): Promise<void> {
  if (returned.length === 0) return;
  const { column, from } = dialect;
  const rows = returned.map(({ index, history }) => [
    index,
    history.attempts,
    history.deferrals,
    history.deferredSince,
    history.returns,
  ]);
  const idx = column(0, 'integer');
  await sql`
    insert into parked (job_no, idx, kind, due, attempts, deferrals, deferred_since, returns, error)
    select ${no}, ${idx}, 'retry', ${at}, ${column(1, 'integer')}, ${column(2, 'integer')}, ${column(3, 'integer')},
      ${column(4, 'integer')}, ${JSON.stringify(RETURNED)}
    from ${from(rows)}
    where not exists (select 1 from outcomes o where o.job_no = ${no} and o.idx = ${idx})
    on conflict (job_no, idx) do update set attempts = excluded.attempts, deferrals = excluded.deferrals,
      deferred_since = excluded.deferred_since, returns = excluded.returns,
      due = case when parked.due < excluded.due then parked.due else excluded.due end
      where parked.kind <> 'wait'`.execute(trx);
}

/** An item's parking where it has none yet. */
export interface Parking {
  readonly kind: ParkKind;
  readonly due: number;
  readonly error: ErrorInfo;
  readonly deaths?: number;
  readonly losses?: number;
}

/** Parks the open items of the set that `narrow` (over `p`, the row there is) lets through, or makes `change` to those rows. */
export async function parkOpen(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  set: IndexSet,
  parking: Parking,
  { narrow, change }: { narrow: RawBuilder<unknown>; change: RawBuilder<unknown> },
): Promise<{ idx: number; deaths: number }[]> {
  const { kind, due, error, deaths = 0, losses = 0 } = parking;
  const { rows } = await sql<{ idx: number; deaths: number }>`
    insert into parked (job_no, idx, kind, due, attempts, deferrals, deaths, losses, error)
    select i.job_no, i.idx, ${kind}, ${due}, 0, 0, ${deaths}, ${losses}, ${JSON.stringify(error)}
    from ${dialect.ranges(set)}
    cross join items i
    left join outcomes o on o.job_no = i.job_no and o.idx = i.idx
    left join parked p on p.job_no = i.job_no and p.idx = i.idx
    where i.job_no = ${no} and i.idx >= s.lo and i.idx < s.hi and o.idx is null and (p.idx is null or ${narrow})
    on conflict (job_no, idx) do update set ${change}
    returning idx, deaths`.execute(trx);
  return rows;
}
