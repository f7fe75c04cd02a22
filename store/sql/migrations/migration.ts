import type { Database, SqlDialect } from '../dialect';

/** One step of the schema; its number is its place in `MIGRATIONS`, from 1. A step that was released never changes. */
export type Migration = (db: Database, dialect: SqlDialect) => Promise<void>;
