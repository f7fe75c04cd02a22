import { sql } from 'kysely';
import { encode, fromIndexes, indexes, rank, size, subtract, take, type IndexSet } from '../../model/index-set';
import { isTerminal } from '../../model/states';
import { LineageBusy } from '../errors';
import type { JobRecord, Lineage, NewJob, Retried, RetrySelection } from '../port';
import type { Database, SqlDialect } from './dialect';
import { dropUpload, insertJob, keyHolder, openUpload, takeUpload } from './intake';
import { jobsOfLineage } from './lineage';
import { addLogLines } from './log';
import { batchesOf, deadWaits, selectItems, type DeadWait, type KeptBatch, type Selected } from './retry-selection';

/** Items copied by one transaction. */
const COPY_CHUNK = 1_000;
const COPY_PIECES = 500;

/** Batches written by one statement. */
const PIN_CHUNK = 500;

/** What the sealing transaction has to write. */
interface Takeover extends Selected {
  readonly of: JobRecord;
  /** The newest job of the lineage when the items were selected: another one since would have to be heeded. */
  readonly newest: number;
  readonly waits: readonly DeadWait[];
  readonly batches: readonly KeptBatch[];
  readonly choice: RetrySelection['openCalls'];
}

export function createRetry(dialect: SqlDialect, now: () => number): Pick<Lineage, 'retry'> {
  return {
    retry: async (of, selection, job) => {
      const known = await dialect.read((db) => keyHolder(db, job));
      if (known) return { job: known, created: false, leftOut: null };
      const takeover = await prepare(dialect, of, selection);
      const upload = await dialect.write((trx) => openUpload(trx, job.tenant, now()));
      try {
        await copyItems(dialect, of.no, takeover.set, upload, now);
        const sealed = await dialect.write((trx) => seal(dialect, trx, upload, takeover, job, now()));
        if (!sealed.created) await dropUpload(dialect, upload);
        return sealed;
      } catch (error) {
        // If this fails too, the sweep drops the upload when it has been idle for long enough.
        await dropUpload(dialect, upload).catch(() => undefined);
        throw error;
      }
    },
  };
}

async function prepare(dialect: SqlDialect, of: JobRecord, selection: RetrySelection): Promise<Takeover> {
  const lineage = await dialect.read((db) => jobsOfLineage(db, of.rootNo));
  refuseBusy(lineage);
  const later = lineage.filter((job) => job.no > of.no);
  const selected = await selectItems(dialect, of, later, selection);
  const batches = await dialect.read((db) => batchesOf(db, of.no));
  return {
    ...selected,
    of,
    newest: lineage[lineage.length - 1]?.no ?? of.no,
    waits: await deadWaits(dialect, of, selected.set),
    // Of a batch of which some members are not run again, the others need a call of their own.
    batches: batches.filter(({ members }) => subtract(members, selected.set).length === 0),
    choice: selection.openCalls,
  };
}

function refuseBusy(lineage: readonly JobRecord[]): void {
  const busy = lineage.find((job) => !isTerminal(job.state));
  if (busy) throw new LineageBusy(busy.id);
}

/** Copies items under the upload, numbered from 0 in their order. */
async function copyItems(
  dialect: SqlDialect,
  from: number,
  set: IndexSet,
  upload: number,
  now: () => number,
): Promise<void> {
  let copied = 0;
  for (let left = set; left.length > 0;) {
    const { taken, rest } = take(left, COPY_CHUNK, COPY_PIECES);
    await dialect.write(async (trx) => {
      const inserted = await sql`
        insert into items (job_no, idx, id, input)
        select ${upload}, ${copied} + row_number() over (order by i.idx) - 1, i.id, i.input
        from ${dialect.ranges(taken)} cross join items i
        where i.job_no = ${from} and i.idx >= s.lo and i.idx < s.hi`.execute(trx);
      await trx
        .updateTable('uploads')
        .set((eb) => ({ items: eb('items', '+', Number(inserted.numAffectedRows)), touched_at: now() }))
        .where('no', '=', upload)
        .where('items', '>=', 0)
        .execute();
    });
    copied += size(taken);
    left = rest;
  }
}

async function seal(
  dialect: SqlDialect,
  trx: Database,
  upload: number,
  takeover: Takeover,
  job: Omit<NewJob, 'items'>,
  at: number,
): Promise<Retried> {
  const known = await keyHolder(trx, job);
  if (known) return { job: known, created: false, leftOut: null };
  const { of, set, leftOut } = takeover;
  await checkLineage(trx, takeover);
  const items = size(set);
  await takeUpload(trx, upload, items);
  const sealed = await insertJob(trx, upload, { ...job, items }, at, of);
  await pinAgain(trx, upload, takeover);
  await forgetWaits(dialect, trx, of.rootNo, takeover.waits);
  if (takeover.choice === 'send_again') await forgetOpenCalls(trx, upload, takeover);
  await sql`
    update dead_letters set replayed_by = ${job.id} where job_no = ${of.no} and idx in
      (select d.idx from ${dialect.ranges(set)} cross join dead_letters d
       where d.job_no = ${of.no} and d.idx >= s.lo and d.idx < s.hi)`.execute(trx);
  const message = `${items} of its items are run again by ${job.id}`;
  await addLogLines(trx, of.no, at, [{ level: 'info', source: 'runner', message }]);
  return { job: sealed, created: true, leftOut };
}

/** What was selected before this transaction still holds within it. */
async function checkLineage(trx: Database, { of, newest }: Takeover): Promise<void> {
  const lineage = await jobsOfLineage(trx, of.rootNo);
  refuseBusy(lineage);
  const last = lineage[lineage.length - 1];
  if (last && last.no > newest) throw new LineageBusy(last.id);
  if (!lineage.some((job) => job.no === of.no)) throw new Error(`${of.id} was deleted meanwhile`);
}

/** Batches whose members are all run again are formed again, so that their calls are found in the journal. */
async function pinAgain(trx: Database, no: number, { batches, set }: Takeover): Promise<void> {
  const rows = batches.map(({ subject, members }) => {
    const moved = fromIndexes([...indexes(members)].map((index) => rank(set, index)));
    const [lo, hi] = [moved[0] ?? 0, moved[moved.length - 1] ?? 0];
    return { job_no: no, subject, members: encode(moved), lo, hi, owner_generation: 0, owner_seq: 0 };
  });
  for (let i = 0; i < rows.length; i += PIN_CHUNK) {
    await trx
      .insertInto('batches')
      .values(rows.slice(i, i + PIN_CHUNK))
      .execute();
  }
}

async function forgetWaits(
  { column, from }: SqlDialect,
  trx: Database,
  rootNo: number,
  waits: readonly DeadWait[],
): Promise<void> {
  if (waits.length === 0) return;
  const rows = from(waits.map((wait) => [wait.subject, wait.result]));
  await sql`
    delete from journal where (root_no, subject, call) in
      (select j.root_no, j.subject, j.call
       from (select ${column(0, 'text')} as subject, ${column(1, 'text')} as result from ${rows}) as w cross join journal j
       where j.root_no = ${rootNo} and j.subject = w.subject and j.kind = 'start' and j.state = 'done'
         and j.result = w.result)`.execute(trx);
}

/** A person knows that nothing was charged: the calls may be made as if they had never been. */
async function forgetOpenCalls(trx: Database, no: number, { of, openBatches }: Takeover): Promise<void> {
  const open = sql`root_no = ${of.rootNo} and state <> 'done' and kind in ('vendor', 'start')`;
  await sql`
    delete from journal where ${open} and substr(subject, 1, 2) = 'i:'
      and exists (select 1 from items i where i.job_no = ${no} and i.id = substr(journal.subject, 3))`.execute(trx);
  for (const subject of openBatches) {
    await sql`delete from journal where ${open} and subject = ${subject}`.execute(trx);
  }
}
