import { sql } from 'kysely';
import type { SqlDialect } from '../dialect';
import type { Migration } from './migration';

/** Jobs that retry others, dead letters, what a statement counts, state changes in the log, the slowest items of a unit. */
export const third: Migration = async (db, dialect) => {
  const { schema } = db;
  await schema.alterTable('jobs').addColumn('retry_of', 'text').execute();
  // With a constant default, a column costs nothing however many rows there are.
  for (const column of ['deferrals', 'waits', 'recoveries', 'vendor_calls']) {
    await schema
      .alterTable('jobs')
      .addColumn(column, 'bigint', (c) => c.notNull().defaultTo(0))
      .execute();
  }
  await schema.alterTable('units').addColumn('slowest', 'text').execute();
  await schema.alterTable('job_log').addColumn('state', 'text').execute();
  await schema
    .alterTable('workers')
    .addColumn('loop_delay_ms', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await schema
    .createTable('counters')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'bigint', (c) => c.notNull())
    .execute();
  // Gauges count the jobs of each state by it alone.
  await schema.createIndex('jobs_state').on('jobs').columns(['state', 'no']).execute();
  await createDeadLetters(db, dialect);
};

async function createDeadLetters(db: SqlDialect['db'], dialect: SqlDialect): Promise<void> {
  await db.schema
    .createTable('dead_letters')
    .addColumn('no', sql.raw(dialect.serial), (c) =>
      dialect.serial === 'integer' ? c.primaryKey().autoIncrement() : c.primaryKey(),
    )
    .addColumn('job_no', 'bigint', (c) => c.notNull())
    .addColumn('idx', 'integer', (c) => c.notNull())
    .addColumn('code', 'text', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('replayed_by', 'text')
    .execute();
  await db.schema.createIndex('dead_letters_item').on('dead_letters').columns(['job_no', 'idx']).unique().execute();
  // What people see is the count of those that nobody has dealt with.
  await sql`create index dead_letters_open on dead_letters (no) where replayed_by is null`.execute(db);
}
