import type { SqlDialect } from '../dialect';
import { first } from './first';
import type { Migration } from './migration';
import { second } from './second';
import { third } from './third';

export const MIGRATIONS: readonly Migration[] = [first, second, third];

/**
 * Brings the schema up to date, in one transaction, so that any number of processes may start at once.
 * @returns the store's UUID.
 * @throws Error when the database was written by a newer release.
 */
export async function migrate(dialect: SqlDialect, newId: () => string): Promise<string> {
  return dialect.write(async (trx) => {
    await trx.schema
      .createTable('meta')
      .ifNotExists()
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('value', 'text', (c) => c.notNull())
      .execute();
    const rows = await trx.selectFrom('meta').selectAll().execute();
    const meta = new Map(rows.map((row) => [row.key, row.value]));
    const version = Number(meta.get('schema_version') ?? 0);
    if (version > MIGRATIONS.length) {
      throw new Error(
        `the database has schema version ${version}, and this release of itemwise knows ${MIGRATIONS.length}: run a newer release`,
      );
    }
    const id = meta.get('store_id') ?? newId();
    if (version === MIGRATIONS.length) return id;
    for (const migration of MIGRATIONS.slice(version)) await migration(trx, dialect);
    await trx
      .insertInto('meta')
      .values([
        { key: 'schema_version', value: String(MIGRATIONS.length) },
        { key: 'store_id', value: id },
      ])
      .onConflict((oc) => oc.column('key').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })))
      .execute();
    return id;
  });
}
