import type { Kysely, RawBuilder } from 'kysely';
import type { IndexSet } from '../../model/index-set';
import type { Schema } from './schema';

export type Database = Kysely<Schema>;

/** What the SQL adapters differ in. Everything else of the store is written once, over this. */
export interface SqlDialect {
  readonly db: Database;
  /**
   * A row source for one statement that writes many rows: `rows` travel as one JSON parameter, and column `i` of each
   * is read by `column(i, type)`. Use: `insert into t (...) select ${column(0, 'integer')}, ... from ${from(rows)}`.
   */
  from(rows: readonly (readonly unknown[])[]): RawBuilder<unknown>;
  column(position: number, type: 'integer' | 'text' | 'real'): RawBuilder<unknown>;
  /** `items` narrowed to the set: a row source `s` with columns `lo` and `hi` to be joined with `idx >= lo and idx < hi`. */
  ranges(set: IndexSet): RawBuilder<unknown>;
  /** Bytes of a text column, without reading the text. */
  bytes(column: string): RawBuilder<number>;
  /** The type of an ascending number that the database gives out. */
  readonly serial: 'integer' | 'bigserial';
  /** Clause behind `create table`. */
  readonly clustered: string;
  /** Runs a write again while the database is locked or away; throws StoreUnavailable when it stays so. */
  write<T>(work: (trx: Database) => Promise<T>): Promise<T>;
  /** The same for a read. */
  read<T>(work: (db: Database) => Promise<T>): Promise<T>;
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}
