import { sql } from 'kysely';
import { DuplicateItemId, IdempotencyConflict } from '../errors';
import type { Intake, JobRecord, NewItem, NewJob } from '../port';
import type { Database, SqlDialect } from './dialect';
import { addLogLines, became } from './log';
import { toJob } from './rows';

/** Rows removed by one transaction, so that dropping a large upload stops nobody. */
const DROP_CHUNK = 10_000;

/** In place of an upload's count of items: it is being dropped, and can neither be added to nor sealed. */
export const DROPPED = -1;

export function createIntake(dialect: SqlDialect, now: () => number): Intake {
  const { read, write, from, column } = dialect;
  const drop = (upload: number): Promise<void> => dropUpload(dialect, upload);

  return {
    openUpload: (tenant) => write((trx) => openUpload(trx, tenant, now())),

    addItems: (upload, items) =>
      write(async (trx) => {
        const touched = await trx
          .updateTable('uploads')
          .set((eb) => ({ items: eb('items', '+', items.length), touched_at: now() }))
          .where('no', '=', upload)
          .where('items', '>=', 0)
          .executeTakeFirst();
        if (touched.numUpdatedRows === 0n) throw new Error('the upload is gone: it was idle for too long');
        const rows = items.map((item) => [item.index, item.id, item.input]);
        const inserted = await sql`
          insert into items (job_no, idx, id, input)
          select ${upload}, ${column(0, 'integer')}, ${column(1, 'text')}, ${column(2, 'text')} from ${from(rows)}
          where true on conflict do nothing`.execute(trx);
        if (Number(inserted.numAffectedRows) !== items.length) throw await findDuplicate(trx, upload, items);
      }),

    seal: async (upload, job) => {
      const sealed = await write(async (trx) => {
        const known = await keyHolder(trx, job);
        if (known) {
          await markDropped(trx, upload);
          return { job: known, created: false };
        }
        await takeUpload(trx, upload, job.items);
        return { job: await insertJob(trx, upload, job, now()), created: true };
      });
      if (!sealed.created) await drop(upload);
      return sealed;
    },

    dropUpload: drop,

    brokenUploads: (before) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('uploads')
          .select('no')
          .where('touched_at', '<', before)
          .orderBy('touched_at')
          .limit(100)
          .execute();
        return rows.map((row) => Number(row.no));
      }),
  };
}

export async function openUpload(trx: Database, tenant: string, at: number): Promise<number> {
  const row = await trx
    .insertInto('uploads')
    .values({ tenant, items: 0, touched_at: at })
    .returning('no')
    .executeTakeFirstOrThrow();
  return Number(row.no);
}

export async function dropUpload({ write }: SqlDialect, upload: number): Promise<void> {
  for (let more = true; more;) more = await write((trx) => dropChunk(trx, upload));
}

/** The upload is one no more: its items are about to be a job's. @throws Error when it does not hold `items`. */
export async function takeUpload(trx: Database, upload: number, items: number): Promise<void> {
  const taken = await trx.deleteFrom('uploads').where('no', '=', upload).returning('items').executeTakeFirst();
  if (taken?.items !== items) throw new Error(`the upload holds ${taken?.items ?? 0} items, not ${items}`);
}

/** Which of the items is there already, be it from an earlier batch or this one. */
async function findDuplicate(trx: Database, upload: number, items: readonly NewItem[]): Promise<Error> {
  const firstOf = new Map<string, number>();
  const stored = await trx
    .selectFrom('items')
    .select(['id', 'idx'])
    .where('job_no', '=', upload)
    .where('id', 'in', [...new Set(items.map((item) => item.id))])
    .execute();
  for (const row of stored) firstOf.set(row.id, row.idx);
  for (const item of items) {
    const first = firstOf.get(item.id);
    if (first !== undefined && first !== item.index) return new DuplicateItemId(item.id, first, item.index);
  }
  return new Error('an item index occurs twice in the upload');
}

/** The job that has the idempotency key. @throws IdempotencyConflict */
export async function keyHolder(
  trx: Database,
  job: Pick<NewJob, 'tenant' | 'idempotency'>,
): Promise<JobRecord | undefined> {
  if (!job.idempotency) return undefined;
  const row = await trx
    .selectFrom('jobs')
    .selectAll()
    .where('tenant', '=', job.tenant)
    .where('idempotency_key', '=', job.idempotency.key)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.body_hash !== job.idempotency.bodyHash) throw new IdempotencyConflict('the key was used with another body');
  return toJob(row);
}

/** @param of the job that it retries, whose journal it shares. */
export async function insertJob(
  trx: Database,
  no: number,
  job: NewJob,
  at: number,
  of?: Pick<JobRecord, 'id' | 'rootNo'>,
): Promise<JobRecord> {
  const labels = Object.entries(job.labels);
  if (labels.length > 0) {
    await trx
      .insertInto('job_labels')
      .values(labels.map(([key, value]) => ({ job_no: no, key, value })))
      .execute();
  }
  const row = await trx
    .insertInto('jobs')
    .values({
      no,
      id: job.id,
      tenant: job.tenant,
      caller: job.caller,
      capability: job.capability,
      params: JSON.stringify(job.params),
      labels: JSON.stringify(job.labels),
      plan: JSON.stringify(job.plan),
      items: job.items,
      state: 'accepted',
      paused: 0,
      generation: 1,
      succeeded: 0,
      failed: 0,
      needs_review: 0,
      skipped: 0,
      created_at: at,
      touched_at: at,
      suspect: 0,
      finalize_rounds: 0,
      payload_log_lines: 0,
      idempotency_key: job.idempotency?.key ?? null,
      body_hash: job.idempotency?.bodyHash ?? null,
      root_no: of?.rootNo ?? no,
      retry_of: of?.id ?? null,
      cancel_running: 0,
      cancel_stopped: 0,
      vendor_cancels_sent: 0,
      vendor_cancels_failed: 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await addLogLines(trx, no, at, [became('accepted', `accepted with ${job.items} items${of ? ` of ${of.id}` : ''}`)]);
  return toJob(row);
}

/** False when there is no such upload: the number may be a job's by now, whose rows are to stay. */
export async function markDropped(trx: Database, no: number): Promise<boolean> {
  const marked = await trx
    .updateTable('uploads')
    .set({ items: DROPPED, touched_at: 0 })
    .where('no', '=', no)
    .executeTakeFirst();
  return marked.numUpdatedRows > 0n;
}

/** Removes some rows of an upload, and at last the upload itself; whether there is more. */
async function dropChunk(trx: Database, no: number): Promise<boolean> {
  if (!(await markDropped(trx, no))) return false;
  const last = await trx
    .selectFrom('items')
    .select('idx')
    .where('job_no', '=', no)
    .orderBy('idx')
    .offset(DROP_CHUNK)
    .limit(1)
    .executeTakeFirst();
  const upTo = last?.idx ?? Number.MAX_SAFE_INTEGER;
  for (const table of ['outcomes', 'parked', 'items'] as const) {
    await trx.deleteFrom(table).where('job_no', '=', no).where('idx', '<', upTo).execute();
  }
  if (last) return true;
  const usage = await sql`
    delete from usage where (root_no, item_id, key) in
      (select root_no, item_id, key from usage where job_no = ${no} limit ${DROP_CHUNK})`.execute(trx);
  if (Number(usage.numAffectedRows) === DROP_CHUNK) return true;
  if (await dropJournal(trx, no)) return true;
  for (const table of ['units', 'batches', 'dead_letters', 'job_log', 'job_labels'] as const) {
    await trx.deleteFrom(table).where('job_no', '=', no).execute();
  }
  await trx.deleteFrom('uploads').where('no', '=', no).execute();
  return false;
}

/** Removes some of the journal that the job had with others, once none of them is left; whether there is more. */
async function dropJournal(trx: Database, no: number): Promise<boolean> {
  const { root_no: root } = await trx
    .selectFrom('uploads')
    .select('root_no')
    .where('no', '=', no)
    .executeTakeFirstOrThrow();
  if (root === null) return false;
  const heir = await trx.selectFrom('jobs').select('no').where('root_no', '=', root).limit(1).executeTakeFirst();
  if (heir) return false;
  const dropped = await sql`
    delete from journal where (root_no, subject, call) in
      (select root_no, subject, call from journal where root_no = ${root} limit ${DROP_CHUNK})`.execute(trx);
  return Number(dropped.numAffectedRows) === DROP_CHUNK;
}
