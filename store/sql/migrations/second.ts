import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../dialect';
import type { Migration } from './migration';

/** The journal of paid calls, waits, batches that keep their members, quarantine, the receipt of a cancel. */
export const second: Migration = async (db, dialect) => {
  await extendJobs(db);
  // With a constant default, a column costs nothing however many rows there are.
  await addCounters(db, 'parked', ['returns', 'deaths', 'losses', 'checks', 'check_errors']);
  await addCounters(db, 'units', ['accounted']);
  await createWaits(db, sql.raw(dialect.clustered));
  await createJournal(db);
};

async function addCounters(db: Database, table: string, columns: readonly string[]): Promise<void> {
  for (const column of columns) {
    await db.schema
      .alterTable(table)
      .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
      .execute();
  }
}

async function extendJobs(db: Database): Promise<void> {
  await db.schema
    .alterTable('jobs')
    .addColumn('root_no', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`update jobs set root_no = no`.execute(db);
  await db.schema.createIndex('jobs_root').on('jobs').columns(['root_no']).execute();
  await addCounters(db, 'jobs', ['cancel_running', 'cancel_stopped', 'vendor_cancels_sent', 'vendor_cancels_failed']);
  await db.schema.alterTable('uploads').addColumn('root_no', 'bigint').execute();
}

async function createWaits(db: Database, clustered: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('waits')
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('idx', 'integer', (c) => c.notNull())
    .addColumn('ordinal', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('capability', 'text', (c) => c.notNull())
    .addColumn('remote_id', 'text')
    .addColumn('since', 'bigint', (c) => c.notNull())
    .addColumn('answered', 'integer', (c) => c.notNull())
    .addColumn('answer', 'text')
    .addPrimaryKeyConstraint('waits_pk', ['job_no', 'idx', 'ordinal'])
    .modifyEnd(clustered)
    .execute();
  await sql`create index waits_open on waits (capability, name) where answered = 0`.execute(db);
}

async function createJournal(db: Database): Promise<void> {
  await db.schema
    .createTable('journal')
    .addColumn('root_no', 'bigint', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('call', 'text', (c) => c.notNull())
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('vendor', 'text')
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('token', 'text', (c) => c.notNull())
    .addColumn('args_hash', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('result', 'text')
    .addColumn('remote_id', 'text')
    .addColumn('intent_at', 'bigint', (c) => c.notNull())
    .addColumn('done_at', 'bigint')
    .addPrimaryKeyConstraint('journal_pk', ['root_no', 'subject', 'call'])
    .execute();
  // A cancel asks for the few calls without an answer among all that were ever made.
  await sql`create index journal_open on journal (root_no) where state <> 'done'`.execute(db);
  await db.schema
    .createTable('batches')
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('members', 'text', (c) => c.notNull())
    .addColumn('lo', 'integer', (c) => c.notNull())
    .addColumn('hi', 'integer', (c) => c.notNull())
    .addColumn('owner_generation', 'integer', (c) => c.notNull())
    .addColumn('owner_seq', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('batches_pk', ['job_no', 'subject'])
    .execute();
  // Batches are pinned about in the order of their items, so that those beyond a unit's first item are few.
  await db.schema.createIndex('batches_reach').on('batches').columns(['job_no', 'hi', 'lo']).execute();
}
