import { sql, type RawBuilder } from 'kysely';
import type { Database, SqlDialect } from '../dialect';
import type { Migration } from './migration';

/** Jobs, items, outcomes, who is parked until when, units, usage, workers. */
export const first: Migration = async (db, dialect) => {
  const { schema } = db;
  const clustered = sql.raw(dialect.clustered);
  await schema
    .createTable('uploads')
    .addColumn('no', sql.raw(dialect.serial), (c) =>
      dialect.serial === 'integer' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('tenant', 'text', (c) => c.notNull())
    .addColumn('items', 'integer', (c) => c.notNull())
    .addColumn('touched_at', 'bigint', (c) => c.notNull())
    .execute();
  await createJobs(db);
  await schema
    .createTable('job_labels')
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('job_labels_pk', ['key', 'value', 'job_no'])
    .execute();
  await schema.createIndex('job_labels_job').on('job_labels').columns(['job_no']).execute();
  // Rows of a job lie together in the order of their indexes: a unit is one range scan, and inserts only append.
  await schema
    .createTable('items')
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('idx', 'integer', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('input', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('items_pk', ['job_no', 'idx'])
    .modifyEnd(clustered)
    .execute();
  await schema.createIndex('items_id').on('items').columns(['job_no', 'id']).unique().execute();
  await schema
    .createTable('outcomes')
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('idx', 'integer', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('outcomes_pk', ['job_no', 'idx'])
    .modifyEnd(clustered)
    .execute();
  // What people look for among 300,000 items is the few that did not succeed; the many cost nothing here.
  await sql`create index outcomes_odd on outcomes (job_no, outcome, idx) where outcome <> 'succeeded'`.execute(db);
  await createRunning(db, clustered);
  await createFleet(db, dialect);
};

async function createJobs(db: Database): Promise<void> {
  await db.schema
    .createTable('jobs')
    .addColumn('no', 'bigint', (c) => c.primaryKey())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('tenant', 'text', (c) => c.notNull())
    .addColumn('caller', 'text', (c) => c.notNull())
    .addColumn('capability', 'text', (c) => c.notNull())
    .addColumn('params', 'text', (c) => c.notNull())
    .addColumn('labels', 'text', (c) => c.notNull())
    .addColumn('plan', 'text', (c) => c.notNull())
    .addColumn('items', 'integer', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('paused', 'integer', (c) => c.notNull())
    .addColumn('generation', 'integer', (c) => c.notNull())
    .addColumn('succeeded', 'integer', (c) => c.notNull())
    .addColumn('failed', 'integer', (c) => c.notNull())
    .addColumn('needs_review', 'integer', (c) => c.notNull())
    .addColumn('skipped', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('workflow_started_at', 'bigint')
    .addColumn('started_at', 'bigint')
    .addColumn('finished_at', 'bigint')
    .addColumn('cancel_at', 'bigint')
    .addColumn('cancel_by', 'text')
    .addColumn('touched_at', 'bigint', (c) => c.notNull())
    .addColumn('suspect', 'integer', (c) => c.notNull())
    .addColumn('finalize_rounds', 'integer', (c) => c.notNull())
    .addColumn('payload_log_lines', 'integer', (c) => c.notNull())
    .addColumn('statement', 'text')
    .addColumn('idempotency_key', 'text')
    .addColumn('body_hash', 'text')
    .execute();
  await db.schema
    .createIndex('jobs_idempotency')
    .on('jobs')
    .columns(['tenant', 'idempotency_key'])
    .unique()
    .where('idempotency_key', 'is not', null)
    .execute();
  await db.schema.createIndex('jobs_tenant').on('jobs').columns(['tenant', 'no']).execute();
  await sql`create index jobs_open on jobs (touched_at) where finished_at is null`.execute(db);
}

async function createRunning(db: Database, clustered: RawBuilder<unknown>): Promise<void> {
  await db.schema
    .createTable('parked')
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('idx', 'integer', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('due', 'bigint', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('deferrals', 'integer', (c) => c.notNull())
    .addColumn('deferred_since', 'bigint')
    .addColumn('error', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('parked_pk', ['job_no', 'idx'])
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('parked_due').on('parked').columns(['job_no', 'due', 'idx', 'kind']).execute();
  await db.schema
    .createTable('units')
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('generation', 'integer', (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('delivery', 'text', (c) => c.notNull())
    .addColumn('worker', 'text', (c) => c.notNull())
    .addColumn('size', 'integer', (c) => c.notNull())
    .addColumn('running', 'integer', (c) => c.notNull())
    .addColumn('progress', 'text')
    .addColumn('opened_at', 'bigint', (c) => c.notNull())
    .addColumn('closed', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('units_pk', ['job_no', 'generation', 'seq'])
    .execute();
  await sql`create index units_open on units (job_no) where closed = 0`.execute(db);
  await db.schema
    .createTable('usage')
    .addColumn('root_no', 'bigint', (c) => c.notNull())
    .addColumn('item_id', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('quantity', 'double precision', (c) => c.notNull())
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_pk', ['root_no', 'item_id', 'key'])
    .execute();
  await db.schema.createIndex('usage_job').on('usage').columns(['job_no']).execute();
}

async function createFleet(db: Database, dialect: SqlDialect): Promise<void> {
  await db.schema
    .createTable('workers')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('pool', 'text', (c) => c.notNull())
    .addColumn('capabilities', 'text', (c) => c.notNull())
    .addColumn('ceilings', 'text', (c) => c.notNull())
    .addColumn('memory_mb', 'integer', (c) => c.notNull())
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('beat_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('job_log')
    .addColumn('no', sql.raw(dialect.serial), (c) =>
      dialect.serial === 'integer' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('level', 'text', (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('item_id', 'text')
    .execute();
  await db.schema.createIndex('job_log_job').on('job_log').columns(['job_no', 'no']).execute();
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('holder', 'text', (c) => c.notNull())
    .addColumn('until', 'bigint', (c) => c.notNull())
    .execute();
}
