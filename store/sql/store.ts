import type { Store } from '../port';
import { createDeadLetters } from './dead-letters';
import { createDiagnose } from './diagnosis';
import type { SqlDialect } from './dialect';
import { createFleet } from './fleet';
import { createIntake } from './intake';
import { createJobs } from './jobs';
import { createJournal } from './journal';
import { createLineageReads } from './lineage';
import { migrate } from './migrations';
import { createObserve } from './observe';
import { createRetry } from './retry';
import { createUnits } from './units';

/** A store over an SQL dialect, its schema brought up to date. */
export async function createSqlStore(dialect: SqlDialect, now: () => number, newId: () => string): Promise<Store> {
  const id = await migrate(dialect, newId);
  return {
    id,
    ...createIntake(dialect, now),
    ...createJobs(dialect, now),
    ...createUnits(dialect, now),
    ...createJournal(dialect, now),
    ...createLineageReads(dialect),
    ...createRetry(dialect, now),
    ...createDeadLetters(dialect),
    ...createDiagnose(dialect),
    ...createFleet(dialect, now),
    ...createObserve(dialect),
    onChange: (listener) => dialect.onChange(listener),
    check: () => dialect.read(async (db) => void (await db.selectFrom('meta').select('key').limit(1).execute())),
    close: () => dialect.close(),
  };
}
