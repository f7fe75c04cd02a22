/**
 * What the runner remembers: items, outcomes, who waits until when.
 *
 *   port.ts     what the runner needs of a store, in the words of the job; journal-port.ts: of its journal
 *   errors.ts   what a store may throw
 *   text.ts     the rule for text that a database cannot hold
 *   sql/        the store over SQL, written once
 *   sqlite/     what is particular to SQLite
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from './port';
import { createSqlStore } from './sql/store';
import { openSqlite } from './sqlite/dialect';

export * from './errors';
export * from './port';
export { isStorableName, printable } from './text';

export interface StoreOptions {
  /** SQLite file, made with its folder when it is not there; `:memory:` for a store that ends with the process. */
  file: string;
  /** How long a call waits for a locked database before StoreUnavailable, ms. */
  patienceMs: number;
  now?: () => number;
}

/** Opens the store and brings its schema up to date. @throws StoreUnavailable */
export async function openStore(options: StoreOptions): Promise<Store> {
  const now = options.now ?? Date.now;
  if (options.file !== ':memory:') mkdirSync(dirname(options.file), { recursive: true });
  const dialect = openSqlite({ ...options, now, sleep: (ms) => sleep(ms) });
  try {
    return await createSqlStore(dialect, now, randomUUID);
  } catch (error) {
    await dialect.close();
    throw error;
  }
}
