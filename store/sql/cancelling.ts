import { sql } from 'kysely';
import { CANCELLED, UNKNOWN_CHARGE } from '../../model/reasons';
import type { Outcome } from '../../model/states';
import type { OutcomeBody } from '../port';
import type { Database, SqlDialect } from './dialect';
import { openCalls, type OpenCall, type Stretch } from './journal/open-calls';
import { SCAN_CHUNK } from './scan';

/** Ends the open items of a cancelled job, a stretch at a time. */
export async function endCancelled(
  dialect: SqlDialect,
  no: number,
  now: () => number,
): Promise<{ skipped: number; unknown: number }> {
  const job = await dialect.read((db) =>
    db.selectFrom('jobs').select(['items', 'root_no']).where('no', '=', no).executeTakeFirstOrThrow(),
  );
  const ended = { skipped: 0, unknown: 0 };
  for (let lo = 0; lo < job.items; lo += SCAN_CHUNK) {
    const stretch = { no, rootNo: Number(job.root_no), lo, hi: lo + SCAN_CHUNK };
    const { skipped, unknown } = await dialect.write((trx) => endStretch(dialect, trx, stretch, now()));
    ended.skipped += skipped;
    ended.unknown += unknown;
  }
  return ended;
}

async function endStretch(
  dialect: SqlDialect,
  trx: Database,
  stretch: Stretch,
  at: number,
): Promise<{ skipped: number; unknown: number }> {
  const calls = await openCalls(trx, stretch);
  const remoteIds = await openRemoteIds(trx, stretch);
  const charged = [...calls].map(([idx, open]) => [idx, unknownCharge(open, remoteIds.get(idx))] as const);
  const waiting = [...remoteIds]
    .filter(([idx]) => !calls.has(idx))
    .map(([idx, remoteId]) => [idx, { reason: CANCELLED, remoteId }] as const);
  const unknown = await endEach(dialect, trx, stretch.no, 'needs_review', charged, at);
  let skipped = await endEach(dialect, trx, stretch.no, 'skipped', waiting, at);
  skipped += await endOthers(trx, stretch, at);
  if (skipped + unknown > 0) {
    await trx
      .updateTable('jobs')
      .set((eb) => ({
        skipped: eb('skipped', '+', skipped),
        needs_review: eb('needs_review', '+', unknown),
        touched_at: at,
      }))
      .where('no', '=', stretch.no)
      .execute();
  }
  for (const table of ['parked', 'waits'] as const) {
    await trx
      .deleteFrom(table)
      .where('job_no', '=', stretch.no)
      .where('idx', '>=', stretch.lo)
      .where('idx', '<', stretch.hi)
      .execute();
  }
  return { skipped, unknown };
}

/** What vendors know the waits of a stretch by. */
async function openRemoteIds(trx: Database, { no, lo, hi }: Stretch): Promise<Map<number, string>> {
  const rows = await trx
    .selectFrom('waits')
    .select(['idx', 'remote_id'])
    .where('job_no', '=', no)
    .where('idx', '>=', lo)
    .where('idx', '<', hi)
    .where('answered', '=', sql.lit(0))
    .where('remote_id', 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.idx, row.remote_id!]));
}

function unknownCharge(open: readonly OpenCall[], waitsFor: string | undefined): OutcomeBody {
  const remoteId = open.find((call) => call.remoteId !== null)?.remoteId ?? waitsFor;
  const calls = open.map(({ call, vendor, key }) => ({ call, vendor, key }));
  return { reason: UNKNOWN_CHARGE, ...(remoteId !== undefined && { remoteId }), draft: { calls } };
}

/** Gives open items outcomes of their own; how many had none. */
async function endEach(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  outcome: Outcome,
  bodies: readonly (readonly [number, OutcomeBody])[],
  at: number,
): Promise<number> {
  if (bodies.length === 0) return 0;
  const { column, from } = dialect;
  const rows = bodies.map(([idx, body]) => [idx, JSON.stringify(body)]);
  const inserted = await sql`
    insert into outcomes (job_no, idx, outcome, attempts, body, at)
    select i.job_no, i.idx, ${outcome}, coalesce(p.attempts, 0), r.body, ${at}
    from (select ${column(0, 'integer')} as idx, ${column(1, 'text')} as body from ${from(rows)}) as r
    cross join items i
    left join parked p on p.job_no = i.job_no and p.idx = i.idx
    where i.job_no = ${no} and i.idx = r.idx on conflict do nothing`.execute(trx);
  return Number(inserted.numAffectedRows);
}

/** Skips whatever is still open in the stretch; how many. */
async function endOthers(trx: Database, { no, lo, hi }: Stretch, at: number): Promise<number> {
  const inserted = await sql`
    insert into outcomes (job_no, idx, outcome, attempts, body, at)
    select i.job_no, i.idx, 'skipped', coalesce(p.attempts, 0), ${JSON.stringify({ reason: CANCELLED })}, ${at}
    from items i
    left join outcomes o on o.job_no = i.job_no and o.idx = i.idx
    left join parked p on p.job_no = i.job_no and p.idx = i.idx
    where i.job_no = ${no} and i.idx >= ${lo} and i.idx < ${hi} and o.idx is null`.execute(trx);
  return Number(inserted.numAffectedRows);
}
