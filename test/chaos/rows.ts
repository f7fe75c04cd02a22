import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import type { Chaos } from './chaos';

/** What a scenario leaves in the store, read past the product. */
export interface Rows {
  readonly uploads: number;
  /** Items that belong to no job: of an upload that broke off, or was half dropped. */
  readonly strays: number;
}

export function rowsOf({ dataDir }: Chaos): Rows {
  const db = new BetterSqlite(join(dataDir, 'itemwise.db'), { readonly: true, timeout: 5_000 });
  const count = (sql: string): number => (db.prepare(sql).get() as { n: number }).n;
  try {
    return {
      uploads: count('select count(*) as n from uploads'),
      strays: count('select count(*) as n from items where job_no not in (select no from jobs)'),
    };
  } finally {
    db.close();
  }
}
