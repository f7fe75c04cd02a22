import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import type { Chaos } from './chaos';

/** What is done to the database; undone by what is returned. */
export type StoreFault = (chaos: Chaos) => () => void;

/** Another process has the lock of the file and does not give it back. Readers are not kept out (write-ahead log). */
export const locked: StoreFault = ({ dataDir }) => {
  const db = new BetterSqlite(join(dataDir, 'itemwise.db'), { timeout: 30_000 });
  db.exec('begin exclusive');
  return () => {
    db.exec('rollback');
    db.close();
  };
};

/** See `preload/store-mood.js`, which the scenario loads. */
const mood =
  (name: 'store-full' | 'store-readonly'): StoreFault =>
  ({ service }) => {
    const file = join(service.folder, name);
    writeFileSync(file, '');
    return () => rmSync(file);
  };

export const readOnly = mood('store-readonly');
export const full = mood('store-full');
