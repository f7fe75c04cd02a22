import { indexes, range } from '../../../model/index-set';
import type { JobRecord, Store, UsageEvent } from '../../../store';
import {
  eachWithStore,
  ended,
  finishAll,
  flush,
  linesOf,
  newItems,
  openUnit,
  parked,
  reread,
  runUnit,
  submit,
  type Open,
} from './kit';

export function settleConformance(open: Open): void {
  describe('settling', () => {
    outcomes(open);
    usage(open);
    progress(open);
    payloadLog(open);
  });
}

function outcomes(open: Open): void {
  const world = eachWithStore(open);

  it('keeps the first outcome of an item, and counts each item once when flushes overlap', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const [one, two] = [await openUnit(store, job, 1), await openUnit(store, job, 2)];
    await store.settle([flush(one, { settled: ended('succeeded', [0, 1, 2, 3, 4], 2) })]);
    const firstly = await store.items(job, { after: -1, limit: 5 });
    clock.now += 1_000;
    const again = [...ended('failed', [3, 4, 5, 6]), ...ended('skipped', [7]), ...ended('needs_review', [0, 8])];
    expect(await store.settle([flush(two, { settled: again })])).toEqual([true]);
    expect(await store.items(job, { after: -1, limit: 5 })).toEqual(firstly);
    const outcomes = { succeeded: 5, failed: 2, needs_review: 1, skipped: 1 };
    expect((await reread(store, job)).outcomes).toEqual(outcomes);
    expect(await store.counts(job)).toMatchObject({ ...outcomes, pending: 1 });
    expect(await store.item(job, 'item-5')).toMatchObject({ state: 'failed', body: { reason: 'failed 5' } });
  });

  it('counts an item once that is settled twice in one flush', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    await runUnit(store, job, 1, {
      settled: [...ended('failed', [1]), ...ended('failed', [1]), ...ended('skipped', [1])],
    });
    expect(await store.counts(job)).toMatchObject({ pending: 2 });
  });

  it('counts right when two connections settle the same items at once', async () => {
    const stores = [world.store, await world.reopen()];
    const job = await submit(world.store, 600);
    await Promise.all(
      stores.map(async (store, i) => {
        const unit = await openUnit(store, job, i);
        for (let lo = 0; lo < 600; lo += 100) {
          const settled = ended(i === 0 ? 'succeeded' : 'failed', indexes(range(lo, lo + 100)));
          expect(await store.settle([flush(unit, { settled })])).toEqual([true]);
        }
      }),
    );
    const counted = (await reread(world.store, job)).outcomes;
    expect(counted.succeeded + counted.failed).toBe(600);
    expect(await world.store.items(job, { outcome: 'failed', after: -1, limit: 600 })).toHaveLength(counted.failed);
  });

  it('writes the other flushes of a call in which one is refused', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 4), await submit(store, 4)];
    const units = [await openUnit(store, job, 1), await openUnit(store, job, 2), await openUnit(store, other, 1)];
    await store.recover(job.no, 1, 2, []);
    const flushes = units.map((unit, i) => flush(unit, { settled: ended('succeeded', [i]) }));
    expect(await store.settle(flushes)).toEqual([true, false, true]);
    expect((await store.items(job, { outcome: 'succeeded', after: -1, limit: 9 })).map((item) => item.index)).toEqual([
      0,
    ]);
    expect((await store.items(other, { outcome: 'succeeded', after: -1, limit: 9 })).map((item) => item.index)).toEqual(
      [2],
    );
    expect(await store.settle([])).toEqual([]);
  });

  it('never lets a parking overwrite an outcome, and ends a parking with an outcome', async () => {
    const { store, clock } = world;
    const job = await submit(store, 5);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { settled: ended('failed', [0]), parked: [parked(1, clock.now)] })]);
    await store.settle([flush(unit, { parked: [parked(0, clock.now), parked(2, clock.now)] })]);
    await store.settle([flush(unit, { settled: ended('succeeded', [1, 3]), parked: [parked(3, clock.now)] })]);
    expect(await store.due(job.no, [], 10)).toMatchObject({ due: { run: [2, 3] } });
    expect(await store.counts(job)).toMatchObject({ failed: 1, succeeded: 2, waiting: 1, pending: 1 });
    expect(await store.item(job, 'item-1')).toMatchObject({ state: 'succeeded', attempts: 1, parked: null });
  });

  it('ends parkings that are scattered over the job, and no others', async () => {
    const { store } = world;
    const job = await submit(store, 400);
    await runUnit(store, job, 1, { parked: newItems(400).map((item) => parked(item.index, 5)) });
    const every7th = newItems(400).flatMap(({ index }) => (index % 7 === 0 ? [index] : []));
    await runUnit(store, job, 2, { settled: ended('succeeded', every7th) });
    expect(await store.counts(job)).toMatchObject({ succeeded: every7th.length, waiting: 400 - every7th.length });
    const { due } = await store.due(job.no, [], 1_000);
    expect([...indexes(due.run)]).toEqual(newItems(400).flatMap(({ index }) => (index % 7 === 0 ? [] : [index])));
  });
}

function usage(open: Open): void {
  const world = eachWithStore(open);
  const used = (itemId: string, key: string, quantity: number, name = 'tokens'): UsageEvent => {
    return { itemId, key, name, quantity };
  };
  const closing = async (store: Store, job: JobRecord) => {
    await finishAll(store, job, 'succeeded');
    return (await reread(store, job)).statement?.usage;
  };

  it('takes a use once, by item and key within the job', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 3), await submit(store, 3)];
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { usage: [used('item-0', 'a', 10), used('item-0', 'a', 99)] })]);
    await store.settle([flush(unit, { usage: [used('item-0', 'a', 10), used('item-0', 'b', 0.25)] })]);
    await store.settle([flush(unit, { usage: [used('item-1', 'a', 100), used('item-2', 'a', 3, 'pages')] })]);
    await runUnit(store, other, 1, { usage: [used('item-0', 'a', 1_000)] });
    expect(await closing(store, job)).toEqual({ tokens: 110.25, pages: 3 });
    expect(await closing(store, other)).toEqual({ tokens: 1_000 });
  });

  it('closes a job that used nothing with no usage', async () => {
    const { store } = world;
    expect(await closing(store, await submit(store, 1))).toEqual({});
  });
}

function progress(open: Open): void {
  const world = eachWithStore(open);

  it('shows the progress of an item while its unit says so', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    const note = 'half \0 😀';
    await store.settle([flush(unit, { running: 2, progress: { 1: { done: 5, total: 10, note }, 2: { done: 0 } } })]);
    expect(await store.item(job, 'item-1')).toMatchObject({ state: 'running', progress: { done: 5, total: 10, note } });
    expect((await store.items(job, { after: -1, limit: 3 })).map((item) => item.state)).toEqual([
      'pending',
      'running',
      'running',
    ]);
    await store.settle([
      flush(unit, { settled: ended('succeeded', [1]), progress: { 1: { done: 10 }, 2: { done: 1 } } }),
    ]);
    expect(await store.item(job, 'item-1')).toMatchObject({ state: 'succeeded', progress: null });
    expect(await store.item(job, 'item-2')).toMatchObject({ state: 'running', progress: { done: 1 } });
    await store.settle([flush(unit, { progress: { 2: { done: 1 } }, close: true })]);
    expect(await store.item(job, 'item-2')).toMatchObject({ state: 'pending', progress: null });
  });

  it('forgets the progress that an older delivery told', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { progress: { 1: { done: 5 } } })]);
    await openUnit(store, job, 1, { delivery: 'second' });
    expect(await store.item(job, 'item-1')).toMatchObject({ state: 'pending', progress: null });
  });
}

function payloadLog(open: Open): void {
  const world = eachWithStore(open);
  const lines = (count: number, source: 'payload' | 'runner') =>
    newItems(count).map(({ id }) => ({ level: 'info' as const, source, message: `from ${source}`, itemId: id }));

  it("keeps 1,000 lines of a job's payload, and all of the runner's", async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const [one, two] = [await openUnit(store, job, 1), await openUnit(store, job, 2)];
    await store.settle([flush(one, { log: lines(600, 'payload') })]);
    await store.settle([
      flush(two, { log: [...lines(600, 'payload'), ...lines(2, 'runner')] }),
      flush(one, { log: lines(3, 'payload') }),
    ]);
    await store.appendLog(job.no, { level: 'warn', source: 'runner', message: 'from runner' });
    const kept = await linesOf(store, job);
    expect(kept.filter((line) => line.source === 'payload')).toHaveLength(1_000);
    expect(kept.filter((line) => line.source === 'runner')).toHaveLength(3);
    expect(kept[0]).toMatchObject({ itemId: 'item-0', message: 'from payload', source: 'payload', level: 'info' });
  });
}
