/** What the port does not show: jobs that share a journal, which only a retry makes, and what is left of a job. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite from 'better-sqlite3';
import { range } from '../../../model/index-set';
import { openStore, type JobRecord, type Store } from '../../../store';
import { ended, finishAll, flush, intent, openUnit, parked, resultOf, start, startWaits, submit } from './kit';

const NOW = 1_700_000_000_000;

/** A store for each test, and a look into its file. */
function eachWithFile() {
  let folder = '';
  let store: Store | undefined;
  const file = (): string => join(folder, 'store.sqlite');
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'itemwise-rows-'));
    store = await openStore({ file: file(), patienceMs: 1_000, now: () => NOW });
  });
  afterEach(async () => {
    await store?.close();
    await rm(folder, { recursive: true });
  });
  return {
    get store(): Store {
      if (!store) throw new Error('no test is running');
      return store;
    },
    raw<T>(work: (database: BetterSqlite.Database) => T): T {
      const database = new BetterSqlite(file());
      try {
        return work(database);
      } finally {
        database.close();
      }
    },
  };
}

describe('jobs that share a journal', () => {
  const world = eachWithFile();

  /** Two jobs, the second of which retries the first: nothing but a retry makes such jobs. */
  async function related(store: Store): Promise<{ root: JobRecord; heir: JobRecord }> {
    const [root, heir] = [await submit(store, 2), await submit(store, 2)];
    world.raw((database) => database.prepare('update jobs set root_no = ? where no = ?').run(root.no, heir.no));
    return { root, heir: { ...heir, rootNo: root.no } };
  }
  const look = (job: JobRecord) =>
    world.store.journal([{ type: 'look', rootNo: job.rootNo, subject: 'i:item-0', call: 'charge' }]);

  it('keep it until the last of them is deleted, whichever that is', async () => {
    const { store } = world;
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { root, heir } = await related(store);
      const unit = await openUnit(store, root, 1);
      await store.journal([intent(root, unit, 0), resultOf(intent(root, unit, 0), 'paid')]);
      for (const job of [root, heir]) await finishAll(store, job, 'failed');
      const jobs = order.map((which) => [root, heir][which]!);
      await store.deleteJob(jobs[0]!.no);
      await store.dropUpload(jobs[0]!.no);
      expect(await look(heir)).toMatchObject([{ is: 'known', entry: { result: 'paid' } }]);
      await store.deleteJob(jobs[1]!.no);
      await store.dropUpload(jobs[1]!.no);
      expect(await look(heir)).toEqual([{ is: 'absent' }]);
    }
  });

  it('know the calls, waits and usage of one another', async () => {
    const { store } = world;
    const { root, heir } = await related(store);
    const [one, two] = [await openUnit(store, root, 1), await openUnit(store, heir, 1)];
    await startWaits(store, root, one, [0], { due: NOW });
    await store.journal([start(root, one, 1)]);
    const usage = [{ itemId: 'item-0', key: 'a', name: 'tokens', quantity: 5 }];
    await store.settle([flush(one, { usage })]);
    await finishAll(store, root, 'failed');
    // The vendor has the wait of item 0 already; what came of that of item 1 is found out later.
    const starts = [start(heir, two, 0, { token: 'x' }), start(heir, two, 1, { token: 'y' })];
    expect(await store.journal(starts)).toMatchObject([
      { is: 'known', entry: { state: 'done', result: 'r0' } },
      { is: 'known', entry: { state: 'intent' } },
    ]);
    const page = { after: -1, limit: 9 };
    expect(await store.openWaitsOf(heir.no, page)).toMatchObject([{ index: 0, remoteId: 'r0' }]);
    expect(await store.openIntents(heir.no)).toEqual([1, 2]);
    await store.journal([resultOf(starts[1]!, 'r1')]);
    expect(await store.openWaitsOf(heir.no, page)).toMatchObject([{ remoteId: 'r0' }, { remoteId: 'r1' }]);
    expect(await store.openWaitsOf(root.no, page)).toEqual([]);
    await store.settle([flush(two, { usage: [...usage, { ...usage[0]!, key: 'b', quantity: 1 }] })]);
    await finishAll(store, heir, 'succeeded');
    expect((await store.jobByNo(heir.no))?.statement?.usage).toEqual({ tokens: 1 });
  });
});

describe('the rows of a job', () => {
  const world = eachWithFile();
  const filled = (): string[] =>
    world.raw((database) => {
      const tables = database
        .prepare("select name from sqlite_master where type = 'table' order by name")
        .pluck()
        .all();
      const isFilled = (table: unknown) => database.prepare(`select 1 from "${String(table)}" limit 1`).get();
      return tables.filter(isFilled).map(String);
    });

  it('are those that a person may ask for once it has closed, and none once it is deleted', async () => {
    const { store } = world;
    const job = await submit(store, 6, { labels: { a: 'b' } });
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [0, 1], { due: NOW });
    await store.journal([intent(job, unit, 2, { subject: 'b:x', members: range(2, 4) }), start(job, unit, 5)]);
    const usage = [{ itemId: 'item-0', key: 'a', name: 'tokens', quantity: 5 }];
    await store.settle([flush(unit, { usage, settled: ended('failed', [0]), parked: [parked(4, NOW)] })]);
    const always = ['meta', 'sqlite_sequence'];
    const shown = ['items', 'job_labels', 'job_log', 'jobs', 'journal', 'outcomes', 'usage'];
    expect(filled()).toEqual([...always, ...shown, 'batches', 'parked', 'units', 'waits'].sort());
    await finishAll(store, job, 'failed');
    // The batches are there for a job that retries it.
    expect(filled()).toEqual([...always, ...shown, 'batches'].sort());
    await store.deleteJob(job.no);
    await store.dropUpload(job.no);
    expect(filled()).toEqual(always);
  });
});
