import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { openStore, type JobRecord, type Store } from '../../../store';
import { MIGRATIONS } from '../../../store/sql/migrations';
import { openSqlite } from '../../../store/sqlite/dialect';
import { PLAN, all, answerWaits, ended, fence, flush, found, openUnit, parked, startWaits, submit } from './kit';

const NOW = 1_700_000_000_000;
const STORE_ID = '11111111-1111-4111-8111-111111111111';

/** What the schema was at the end of each step that was released: they never change. */
const RELEASED = ['2b480227d4acf39c'];

/** The schema after the first `version` steps. */
async function build(file: string, version: number): Promise<void> {
  const dialect = openSqlite({ file, patienceMs: 1_000, now: () => NOW, sleep: () => Promise.resolve() });
  await dialect.write(async (trx) => {
    await trx.schema
      .createTable('meta')
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('value', 'text', (c) => c.notNull())
      .execute();
    for (const migration of MIGRATIONS.slice(0, version)) await migration(trx, dialect);
    const meta = { schema_version: String(version), store_id: STORE_ID };
    await trx
      .insertInto('meta')
      .values(Object.entries(meta).map(([key, value]) => ({ key, value })))
      .execute();
  });
  await dialect.close();
}

/**
 * A job as the first release left it: of six items, 0 and 1 have ended, 2 is parked for later, 3 is due, 4 was deferred;
 * its unit is open. A second one is being cancelled, a third has closed.
 */
const JOBS_OF_VERSION_1 = `
  insert into jobs (no, id, tenant, caller, capability, params, labels, plan, items, state, paused, generation,
    succeeded, failed, needs_review, skipped, created_at, workflow_started_at, started_at, finished_at, cancel_at,
    cancel_by, touched_at, suspect, finalize_rounds, payload_log_lines, statement)
  values
    (7, 'job-seven', 'acme', 'ann', 'text.upper@1', '{}', '{}', '${JSON.stringify(PLAN)}', 6, 'running', 0, 1,
      1, 1, 0, 0, 5, 6, 7, null, null, null, 8, 0, 0, 0, null),
    (8, 'job-eight', 'acme', 'ann', 'text.upper@1', '{}', '{}', '${JSON.stringify(PLAN)}', 1, 'cancelling', 0, 1,
      0, 0, 0, 0, 5, 6, 7, null, 9, 'bob', 8, 0, 0, 0, null),
    (9, 'job-nine', 'acme', 'ann', 'text.upper@1', '{}', '{}', '${JSON.stringify(PLAN)}', 1, 'succeeded', 0, 1,
      1, 0, 0, 0, 5, 6, 7, 8, null, null, 8, 0, 0, 0, '{"items":1,"outcomes":{},"attempts":1,"usage":{}}');
  insert into items (job_no, idx, id, input)
    select 7, value, 'item-' || value, '{"n":' || value || '}' from json_each('[0,1,2,3,4,5]')
    union all values (8, 0, 'item-0', '{}'), (9, 0, 'item-0', '{}');
  insert into outcomes (job_no, idx, outcome, attempts, body, at) values
    (7, 0, 'succeeded', 1, '{"result":1}', 8), (7, 1, 'failed', 3, '{"reason":"x"}', 8), (9, 0, 'succeeded', 1, '{}', 8);
  insert into parked (job_no, idx, kind, due, attempts, deferrals, deferred_since, error) values
    (7, 2, 'retry', ${NOW + 60_000}, 2, 0, null, '{"code":"boom","message":"it broke"}'),
    (7, 3, 'retry', ${NOW - 5}, 1, 0, null, '{"code":"boom","message":"it broke"}'),
    (7, 4, 'defer', ${NOW - 4}, 0, 3, 77, '{"code":"busy","message":"later"}');
  insert into units (job_no, generation, seq, delivery, worker, size, running, progress, opened_at, closed) values
    (7, 1, 1, 'first', 'w', 6, 2, null, 8, 0), (8, 1, 1, 'first', 'w', 1, 1, null, 8, 0);
  insert into usage (root_no, item_id, key, name, quantity, job_no, at) values (7, 'item-0', 'a', 'tokens', 5, 7, 8);
  insert into uploads (no, tenant, items, touched_at) values (12, 'acme', -1, 0);`;

describe('a database of an earlier release', () => {
  let folder = '';
  let store: Store | undefined;
  const file = (): string => join(folder, 'store.sqlite');
  const open = async (): Promise<Store> => {
    store = await openStore({ file: file(), patienceMs: 1_000, now: () => NOW });
    return store;
  };
  const raw = (work: (database: BetterSqlite.Database) => unknown): unknown => {
    const database = new BetterSqlite(file());
    try {
      return work(database);
    } finally {
      database.close();
    }
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'itemwise-migration-'));
  });
  afterEach(async () => {
    await store?.close();
    store = undefined;
    await rm(folder, { recursive: true });
  });

  it.each(RELEASED.map((hash, i) => [i + 1, hash]))(
    'has the schema that version %i was released with',
    async (version, hash) => {
      await build(file(), Number(version));
      const schema = raw((database) => database.prepare('select sql from sqlite_master order by name').pluck().all());
      expect(createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 16)).toBe(hash);
    },
  );

  async function migrated(): Promise<{ store: Store; job: JobRecord }> {
    await build(file(), 1);
    raw((database) => database.exec(JOBS_OF_VERSION_1));
    const opened = await open();
    const job = await opened.jobByNo(7);
    return { store: opened, job: job! };
  }

  it('keeps its jobs as they were, each the root of its own journal', async () => {
    const { store: opened, job } = await migrated();
    expect(opened.id).toBe(STORE_ID);
    expect(job).toMatchObject({ id: 'job-seven', rootNo: 7, state: 'running', cancel: null, outcomes: { failed: 1 } });
    const cancelled = { at: 9, by: 'bob', running: 0, stopped: 0, vendorCancels: { sent: 0, failed: 0 } };
    expect(await opened.jobByNo(8)).toMatchObject({ rootNo: 8, cancel: cancelled });
    expect(await opened.jobByNo(9)).toMatchObject({ rootNo: 9, state: 'succeeded', statement: { attempts: 1 } });
    expect(await opened.counts(job)).toMatchObject({ succeeded: 1, failed: 1, waiting: 2, deferred: 1, running: 1 });
    expect(await opened.item(job, 'item-2')).toMatchObject({
      ...{ attempts: 2, parked: { kind: 'retry', error: { code: 'boom' } }, wait: null },
    });
    expect((await submit(opened, 1)).no).toBeGreaterThan(12);
    await opened.dropUpload(12);
    expect(await opened.brokenUploads(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  it('goes on with its jobs: units in flight, parked items, usage, and all that is new', async () => {
    const { store: opened, job } = await migrated();
    const unit = fence(job, 1);
    expect(await opened.due(job.no, [], 9)).toEqual({
      ...{ due: found({ run: [3, 5] }), more: false, nextDue: NOW + 60_000 },
    });
    const { open: items } = await opened.openItems(job.no, all(job), 'run');
    expect(items.map((item) => [item.index, item.history])).toEqual([
      [3, { attempts: 1, deferrals: 0, deferredSince: null, returns: 0 }],
      [4, { attempts: 0, deferrals: 3, deferredSince: 77, returns: 0 }],
      [5, { attempts: 0, deferrals: 0, deferredSince: null, returns: 0 }],
    ]);
    const usage = [
      { itemId: 'item-0', key: 'a', name: 'tokens', quantity: 99 },
      { itemId: 'item-0', key: 'b', name: 'tokens', quantity: 2 },
    ];
    await opened.settle([flush(unit, { parked: [parked(2, NOW)], usage })]);
    await startWaits(opened, job, unit, [5], { due: NOW });
    await answerWaits(opened, unit, [{ index: 5, answer: 'yes' }]);
    expect(await opened.inputs(job.no, [5, 6])).toMatchObject([{ resume: { answer: 'yes' } }]);
    expect(await opened.suspect([{ jobNo: 7, generation: 1, seq: 1, index: 3 }], { code: 'x', message: 'y' })).toBe(1);
    expect(await opened.recover(job.no, 1, 1, all(job))).toMatchObject({
      open: found({ run: [2, 3, 4, 6], quarantine: [3, 4] }),
    });
    const last = await openUnit(opened, job, 2);
    await opened.settle([flush(last, { settled: ended('succeeded', [2, 3, 4, 5]), close: true })]);
    expect(await opened.finalize(job.no, 0)).toEqual({ state: 'completed_with_errors' });
    expect((await opened.jobByNo(7))?.statement).toMatchObject({ attempts: 8, usage: { tokens: 7 } });
    expect(await opened.endCancelled(8)).toEqual({ skipped: 1, unknown: 0 });
    expect(await opened.finalize(8, 0)).toEqual({ state: 'cancelled' });
    expect(await opened.deleteJob(9)).toBe(true);
  });
});
