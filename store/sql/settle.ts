import { sql } from 'kysely';
import { OUTCOMES } from '../../model/states';
import type { ItemProgress, SettledItem, UnitFlush, UsageEvent } from '../port';
import { addDeadLetters } from './dead-letters';
import type { Database, SqlDialect } from './dialect';
import { passesFence } from './fence';
import { addVendorCancels } from './jobs';
import { addLogLines } from './log';
import { giveBack, park } from './parking';
import { endWaits, noteChecks } from './waits';

/** Lines that a job's payload may leave in its log; what is over is in the worker's log only. */
const MAX_PAYLOAD_LOG_LINES = 1_000;

/**
 * Writes what a unit's attempts led to since its last flush, within the caller's transaction.
 * @returns false when the fence refused it; its usage and its requests to vendors were taken all the same: they are facts.
 */
export async function settleFlush(dialect: SqlDialect, trx: Database, flush: UnitFlush, at: number): Promise<boolean> {
  const { fence } = flush;
  await addUsage(dialect, trx, fence.jobNo, flush.usage, at);
  if (flush.vendorCancels) await addVendorCancels(trx, fence.jobNo, flush.vendorCancels);
  if (!(await passesFence(trx, fence))) return false;
  const ended = await addOutcomes(dialect, trx, fence.jobNo, flush.settled, at);
  const deferrals = flush.parked.filter((item) => item.kind === 'defer').length;
  await park(dialect, trx, fence.jobNo, flush.parked);
  if (flush.checked) await noteChecks(dialect, trx, fence.jobNo, flush.checked, at);
  if (flush.returned) await giveBack(dialect, trx, fence.jobNo, flush.returned, at);
  await addPayloadLog(trx, fence.jobNo, flush, at);
  await trx
    .updateTable('jobs')
    .set((eb) => ({
      touched_at: at,
      ...(flush.doubtful && { suspect: 1 }),
      ...(deferrals > 0 && { deferrals: eb('deferrals', '+', deferrals) }),
      ...(flush.stopped && { cancel_stopped: eb('cancel_stopped', '+', flush.stopped) }),
      succeeded: eb('succeeded', '+', ended.succeeded),
      failed: eb('failed', '+', ended.failed),
      needs_review: eb('needs_review', '+', ended.needs_review),
      skipped: eb('skipped', '+', ended.skipped),
    }))
    .where('no', '=', fence.jobNo)
    .execute();
  await trx
    .updateTable('units')
    .set({
      running: flush.close ? 0 : flush.running,
      closed: flush.close ? 1 : 0,
      progress: progressText(flush.progress),
      slowest: flush.close || !flush.slowest?.length ? null : JSON.stringify(flush.slowest),
    })
    .where('job_no', '=', fence.jobNo)
    .where('generation', '=', fence.generation)
    .where('seq', '=', fence.seq)
    .execute();
  return true;
}

function progressText(progress: Readonly<Record<number, ItemProgress>>): string | null {
  return Object.keys(progress).length === 0 ? null : JSON.stringify(progress);
}

async function addUsage(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  usage: readonly UsageEvent[],
  at: number,
): Promise<void> {
  if (usage.length === 0) return;
  const { column, from } = dialect;
  const rows = usage.map((event) => [event.itemId, event.key, event.name, event.quantity]);
  await sql`
    insert into usage (root_no, item_id, key, name, quantity, job_no, at)
    select jobs.root_no, r.item_id, r.key, r.name, r.quantity, jobs.no, ${at}
    from (select ${column(0, 'text')} as item_id, ${column(1, 'text')} as key, ${column(2, 'text')} as name,
      ${column(3, 'real')} as quantity from ${from(rows)}) as r
    cross join jobs where jobs.no = ${no} on conflict do nothing`.execute(trx);
}

/** Creates outcomes that do not exist yet; how many of each kind were created. */
async function addOutcomes(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  settled: readonly SettledItem[],
  at: number,
): Promise<Record<(typeof OUTCOMES)[number], number>> {
  const { column, from } = dialect;
  const created = { succeeded: 0, failed: 0, needs_review: 0, skipped: 0 };
  for (const outcome of OUTCOMES) {
    const rows = settled
      .filter((item) => item.outcome === outcome)
      .map((item) => [item.index, item.attempts, JSON.stringify(item.body)]);
    if (rows.length === 0) continue;
    const inserted = await sql`
      insert into outcomes (job_no, idx, outcome, attempts, body, at)
      select ${no}, ${column(0, 'integer')}, ${outcome}, ${column(1, 'integer')}, ${column(2, 'text')}, ${at}
      from ${from(rows)} where true on conflict do nothing`.execute(trx);
    created[outcome] = Number(inserted.numAffectedRows);
  }
  await addDeadLetters(dialect, trx, no, settled, at);
  if (settled.length > 0) {
    const rows = settled.map((item) => [item.index]);
    await sql`
      delete from parked where job_no = ${no} and idx in
        (select ${column(0, 'integer')} from ${from(rows)})`.execute(trx);
    await endWaits(dialect, trx, no, settled);
  }
  return created;
}

async function addPayloadLog(trx: Database, no: number, flush: UnitFlush, at: number): Promise<void> {
  if (flush.log.length === 0) return;
  const { payload_log_lines: written } = await trx
    .selectFrom('jobs')
    .select('payload_log_lines')
    .where('no', '=', no)
    .executeTakeFirstOrThrow();
  let room = Math.max(0, MAX_PAYLOAD_LOG_LINES - written);
  const lines = flush.log.filter((line) => line.source === 'runner' || room-- > 0);
  await addLogLines(trx, no, at, lines);
  const added = lines.filter((line) => line.source === 'payload').length;
  if (added === 0) return;
  await trx
    .updateTable('jobs')
    .set({ payload_log_lines: written + added })
    .where('no', '=', no)
    .execute();
}
