import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import BetterSqlite from 'better-sqlite3';
import { StoreUnavailable, openStore, type Store, type StoreOptions } from '../../../store';
import { eachWithStore, finishAll, submit } from './kit';
import { storeConformance, type Opened } from './suite';

const inFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'itemwise-store-'));

async function openFresh(): Promise<Opened> {
  const folder = await inFolder();
  const clock = { now: 1_700_000_000_000 };
  const stores: Store[] = [];
  const reopen = async (): Promise<Store> => {
    const store = await openStore({ file: join(folder, 'store.sqlite'), patienceMs: 10_000, now: () => clock.now });
    stores.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of stores) await store.close();
    await rm(folder, { recursive: true });
  };
  return { store: await reopen(), reopen, clock, dispose };
}

storeConformance('SQLite', openFresh);

/** A folder for each test, and stores on the one file in it. */
function eachWithFile() {
  let folder = '';
  let opened: { close(): unknown }[] = [];
  beforeEach(async () => {
    folder = await inFolder();
    opened = [];
  });
  afterEach(async () => {
    for (const one of opened) await one.close();
    await rm(folder, { recursive: true });
  });
  const file = (): string => join(folder, 'data', 'store.sqlite');
  const keep = <T extends { close(): unknown }>(one: T): T => {
    opened.push(one);
    return one;
  };
  return {
    file,
    open: async (more: Partial<StoreOptions> = {}) =>
      keep(await openStore({ file: file(), patienceMs: 10_000, ...more })),
    raw: () => keep(new BetterSqlite(file())),
  };
}

describe('the lock of a SQLite file', () => {
  const world = eachWithFile();

  it('is waited for while another connection holds it, without stopping reads or the event loop', async () => {
    const store = await world.open();
    const job = await submit(store, 1);
    const other = world.raw();
    other.exec('begin immediate');
    const states: string[] = [];
    const writes = [store.pause(job.no), store.beat({ ...WORKER, id: 'w1' })].map((write) =>
      write.then(() => states.push('written')),
    );
    // A read comes through behind the first try of both writes: the lock is held, and neither has given up.
    expect(await store.job(job.id, 'acme')).toMatchObject({ state: 'accepted' });
    await turn();
    expect(states).toEqual([]);
    other.exec('commit');
    await Promise.all(writes);
    expect(await store.jobByNo(job.no)).toMatchObject({ state: 'paused' });
    expect(await store.workers(0)).toHaveLength(1);
  });

  it('makes a write fail as unavailable when it is held for longer than the patience, with nothing written', async () => {
    const store = await world.open({ patienceMs: 120 });
    const job = await submit(store, 1);
    const other = world.raw();
    other.exec('begin immediate');
    const refused = store.requestCancel(job.no, 'ann');
    await expect(refused).rejects.toThrow(StoreUnavailable);
    await expect(refused).rejects.toThrow('120 ms');
    await store.check();
    other.exec('rollback');
    expect(await store.jobByNo(job.no)).toEqual(job);
    expect(await store.requestCancel(job.no, 'bob')).toMatchObject({ cancel: { by: 'bob' } });
  });

  it('makes an open fail as unavailable when the file stays locked', async () => {
    await world.open();
    const other = world.raw();
    other.exec('begin immediate');
    await expect(world.open({ patienceMs: 60 })).rejects.toThrow(StoreUnavailable);
  });
});

const WORKER = { pool: 'default', capabilities: [], ceilings: {}, memoryMb: 1, loopDelayMs: 0, startedAt: 1 };

describe('opening a SQLite file', () => {
  const world = eachWithFile();

  it('gives one store to ten who open a fresh file at once', async () => {
    const stores = await Promise.all(Array.from({ length: 10 }, () => world.open()));
    expect(new Set(stores.map((store) => store.id)).size).toBe(1);
    expect(stores[0]!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    await stores[0]!.beat({ ...WORKER, id: 'w1' });
    for (const store of stores) expect(await store.workers(0)).toHaveLength(1);
  });

  it('keeps what was written and the id of the store', async () => {
    const first = await world.open();
    const job = await submit(first, 2);
    await first.close();
    const second = await world.open();
    expect(second.id).toBe(first.id);
    expect(await second.jobByNo(job.no)).toEqual(job);
  });

  it('refuses a file that a newer release wrote, and leaves it as it is', async () => {
    await (await world.open()).close();
    const other = world.raw();
    other.exec("update meta set value = '99' where key = 'schema_version'");
    await expect(world.open()).rejects.toThrow(/schema version 99.*newer release/);
    expect(other.prepare("select value from meta where key = 'schema_version'").pluck().get()).toBe('99');
  });

  it('says that a file which is no database cannot be used', async () => {
    await (await world.open()).close();
    await writeFile(world.file(), 'not a database, but long enough to be looked at: '.repeat(100));
    await expect(world.open()).rejects.toThrow(StoreUnavailable);
    await expect(world.open({ file: join(world.file(), '..') })).rejects.toThrow(StoreUnavailable);
  });

  it('keeps stores in memory apart', async () => {
    const [one, two] = [await world.open({ file: ':memory:' }), await world.open({ file: ':memory:' })];
    await submit(one, 1);
    expect(one.id).not.toBe(two.id);
    expect(await two.jobs({ tenant: 'acme', limit: 5 })).toEqual([]);
  });
});

describe('a SQLite file', () => {
  const world = eachWithStore(openFresh);

  it('lets the event loop turn while a large upload is dropped', async () => {
    const { store } = world;
    const job = await submit(store, 35_000);
    let turns = 0;
    let dropping = true;
    const count = (): void => {
      turns += 1;
      if (dropping) setImmediate(count);
    };
    setImmediate(count);
    await finishAll(store, job, 'failed');
    await store.deleteJob(job.no);
    const before = turns;
    await store.dropUpload(job.no);
    dropping = false;
    expect(before).toBeGreaterThan(6);
    expect(turns - before).toBeGreaterThanOrEqual(3);
  }, 60_000);
});
