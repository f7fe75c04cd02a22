import { fromIndexes, indexes, range } from '../../../model/index-set';
import { FRESH } from '../../../model/attempts';
import {
  UNIT,
  all,
  attempted,
  eachWithStore,
  endAll,
  ended,
  fence,
  flush,
  found,
  linesOf,
  newItems,
  openUnit,
  parked,
  reread,
  runUnit,
  submit,
  type Open,
} from './kit';

export function unitsConformance(open: Open): void {
  describe('units', () => {
    opening(open);
    deliveries(open);
    generations(open);
    recovery(open);
    reading(open);
  });
}

function opening(open: Open): void {
  const world = eachWithStore(open);

  it('starts the job with its first unit, and only then', async () => {
    const { store, clock } = world;
    const job = await submit(store, 4);
    clock.now += 1_000;
    await store.workflowStarted(job.no, 1);
    const expanding = await reread(store, job);
    expect(expanding).toMatchObject({ state: 'expanding', workflowStartedAt: clock.now, startedAt: null });
    clock.now += 1_000;
    const startedAt = clock.now;
    const running = await store.openUnit(fence(job, 1), UNIT);
    expect(running).toEqual({ ...expanding, state: 'running', startedAt });
    clock.now += 1_000;
    expect(await store.openUnit(fence(job, 2), UNIT)).toEqual(running);
  });

  it('starts the job whose unit is quicker than the notice of its workflow', async () => {
    const { store, clock } = world;
    const job = await submit(store, 4);
    expect(await store.openUnit(fence(job, 1), UNIT)).toMatchObject({ state: 'running', startedAt: clock.now });
    await store.workflowStarted(job.no, 1);
    expect(await reread(store, job)).toMatchObject({ state: 'running', workflowStartedAt: clock.now });
  });

  it('opens a unit of a job that is paused or being cancelled without changing its state', async () => {
    const { store } = world;
    const job = await submit(store, 4);
    await store.pause(job.no);
    expect(await store.openUnit(fence(job, 1), UNIT)).toMatchObject({ state: 'paused', paused: true });
    await store.requestCancel(job.no, 'ann');
    expect(await store.openUnit(fence(job, 2), UNIT)).toMatchObject({ state: 'cancelling', cancel: { by: 'ann' } });
  });

  it('opens no unit of a job that there is not', async () => {
    const { store } = world;
    expect(await store.openUnit({ jobNo: 99, generation: 1, seq: 1, delivery: 'd' }, UNIT)).toBeUndefined();
  });
}

function deliveries(open: Open): void {
  const world = eachWithStore(open);

  it('refuses an older delivery once another one of the unit was opened, but takes its usage', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const older = await openUnit(store, job, 1);
    const newer = await openUnit(store, job, 1, { delivery: 'second' });
    const late = flush(older, {
      settled: ended('failed', [0]),
      parked: [parked(1, 9e15)],
      log: [{ level: 'info', source: 'payload', message: 'late' }],
      usage: [{ itemId: 'item-0', key: 'call', name: 'tokens', quantity: 7 }],
      running: 3,
      close: true,
    });
    expect(await store.settle([late])).toEqual([false]);
    expect(await store.counts(job)).toMatchObject({ pending: 3, running: 0 });
    expect(await linesOf(store, job)).toEqual([]);
    expect(await store.settle([flush(newer, { settled: ended('succeeded', [0, 1, 2]), close: true })])).toEqual([true]);
    await store.finalize(job.no, 0);
    expect((await reread(store, job)).statement).toMatchObject({
      outcomes: { succeeded: 3, failed: 0 },
      usage: { tokens: 7 },
    });
  });

  it('opens a closed unit to nobody, and takes nothing more from it', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    expect(await store.settle([flush(unit, { close: true })])).toEqual([true]);
    expect(await store.settle([flush(unit, { settled: ended('failed', [0]) })])).toEqual([false]);
    for (const delivery of ['first', 'second']) {
      expect(await store.openUnit(fence(job, 1, { delivery }), UNIT)).toBeUndefined();
      expect(await store.settle([flush(fence(job, 1, { delivery }), { settled: ended('failed', [0]) })])).toEqual([
        false,
      ]);
    }
    expect(await store.counts(job)).toMatchObject({ pending: 3, failed: 0 });
  });

  it('takes nothing from a unit that was never opened, nor for a job that has ended', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    expect(await store.settle([flush(fence(job, 5), { settled: ended('failed', [0]) })])).toEqual([false]);
    const unit = await openUnit(store, job, 1);
    await endAll(store, job, 'succeeded');
    await store.finalize(job.no, 0);
    const before = await reread(store, job);
    expect(await store.settle([flush(unit, { settled: ended('failed', [0]), parked: [parked(1, 5)] })])).toEqual([
      false,
    ]);
    expect(await reread(store, job)).toEqual(before);
    expect(await store.counts(job)).toMatchObject({ succeeded: 3, waiting: 0 });
  });
}

function generations(open: Open): void {
  const world = eachWithStore(open);

  it('moves a job to the next generation once, whoever asks', async () => {
    const { store } = world;
    const other = await world.reopen();
    const job = await submit(store, 3);
    await store.workflowStarted(job.no, 1);
    const moved = await Promise.all([store.nextGeneration(job.no, 1), other.nextGeneration(job.no, 1)]);
    expect(moved.filter(Boolean)).toHaveLength(1);
    expect(await store.nextGeneration(job.no, 1)).toBe(false);
    expect(await store.nextGeneration(job.no, 3)).toBe(false);
    expect(await reread(store, job)).toMatchObject({ generation: 2, workflowStartedAt: null });
  });

  it('refuses an older generation to open and to settle, and closes its units', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { running: 3, progress: { 0: { done: 1 } } })]);
    await store.nextGeneration(job.no, 1);
    expect(await store.settle([flush(unit, { settled: ended('failed', [0]) })])).toEqual([false]);
    expect(await store.openUnit(fence(job, 1), UNIT)).toBeUndefined();
    expect(await store.openUnit(fence(job, 2), UNIT)).toBeUndefined();
    expect(await store.unitWorkers(job.no)).toEqual([]);
    expect(await store.counts(job)).toMatchObject({ pending: 3, running: 0 });
    expect((await store.item(job, 'item-0'))?.progress).toBeNull();
    const newer = await openUnit(store, job, 1, { generation: 2 });
    expect(await store.settle([flush(newer, { settled: ended('succeeded', [0]) })])).toEqual([true]);
  });

  it('does not hear of the start of an older generation', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    await store.nextGeneration(job.no, 1);
    await store.workflowStarted(job.no, 1);
    expect(await reread(store, job)).toMatchObject({ workflowStartedAt: null, state: 'accepted' });
    await store.workflowStarted(job.no, 2);
    expect(await reread(store, job)).toMatchObject({ workflowStartedAt: world.clock.now, state: 'expanding' });
  });

  it('begins a generation at the first item that is neither ended nor parked', async () => {
    const { store } = world;
    const job = await submit(store, 12_000);
    expect(await store.beginning(job.no)).toEqual({ cursor: 0, nextDue: null });
    await runUnit(store, job, 1, {
      settled: ended('succeeded', indexes(range(0, 10_500))),
      parked: [parked(10_500, 900), parked(10_501, 700)],
    });
    expect(await store.beginning(job.no)).toEqual({ cursor: 10_502, nextDue: 700 });
    await runUnit(store, job, 2, { settled: ended('succeeded', indexes(range(10_502, 12_000))) });
    expect(await store.beginning(job.no)).toEqual({ cursor: 12_000, nextDue: 700 });
  });
}

function recovery(open: Open): void {
  const world = eachWithStore(open);

  it('closes a lost unit, and tells its items that are neither ended nor parked for later', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const unit = await openUnit(store, job, 1);
    const waits = [
      parked(3, clock.now + 500),
      parked(4, clock.now + 300),
      parked(5, clock.now),
      parked(9, clock.now + 1),
    ];
    await store.settle([flush(unit, { settled: ended('succeeded', [0, 1]), parked: waits, running: 3 })]);
    const recovered = await store.recover(job.no, 1, 1, range(0, 8));
    expect(recovered).toEqual({ open: found({ run: [2, 3, 5, 8] }), nextDue: clock.now + 300 });
    expect(await store.settle([flush(unit, { settled: ended('failed', [2]) })])).toEqual([false]);
    expect(await store.openUnit(fence(job, 1, { delivery: 'second' }), UNIT)).toBeUndefined();
    expect(await store.unitWorkers(job.no)).toEqual([]);
    expect(await store.recover(job.no, 1, 1, range(0, 8))).toEqual(recovered);
  });

  it('closes a unit that was never opened, so that a late delivery does not open it', async () => {
    const { store } = world;
    const job = await submit(store, 10);
    expect(await store.recover(job.no, 1, 4, range(2, 5))).toEqual({ open: found({ run: [2, 5] }), nextDue: null });
    expect(await store.openUnit(fence(job, 4), UNIT)).toBeUndefined();
    expect(await store.openUnit(fence(job, 5), UNIT)).toBeDefined();
    expect(await store.unitWorkers(job.no)).toEqual([UNIT.worker]);
  });
}

function reading(open: Open): void {
  const world = eachWithStore(open);

  it('reads scattered items, ascending, and nothing beside them', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2_000);
    const odd = fromIndexes(newItems(1_000).map((_, i) => 2 * i + 1));
    await runUnit(store, job, 1, {
      settled: ended('succeeded', [1, 2, 5]),
      parked: [parked(7, clock.now + 50), parked(8, clock.now + 10), parked(9, clock.now - 10)],
    });
    const expected = [...indexes(odd)].filter((index) => ![1, 5, 7].includes(index));
    const { open: items, nextDue } = await store.openItems(job.no, odd, 'run');
    expect(items.map((item) => item.index)).toEqual(expected);
    expect(nextDue).toBe(clock.now + 50);
    const rows = await store.inputs(job.no, odd);
    expect(rows).toEqual([...indexes(odd)].map((index) => ({ ...newItems(1, index)[0], resume: null })));
    expect(await store.openItems(job.no, [], 'run')).toEqual({
      open: [],
      elsewhere: { check: [], quarantine: [] },
      nextDue: null,
    });
    expect(await store.inputs(job.no, [])).toEqual([]);
  });

  it('reads only the items of the job, also where the set goes beyond its end', async () => {
    const { store } = world;
    const [job, next] = [await submit(store, 3), await submit(store, 3)];
    await runUnit(store, next, 1, { settled: ended('failed', [0]), parked: [parked(1, 9e15)] });
    const { open: items, nextDue } = await store.openItems(job.no, range(1, 50), 'run');
    expect(items.map((item) => item.index)).toEqual([1, 2]);
    expect(nextDue).toBeNull();
    expect(await store.inputs(job.no, all(next))).toHaveLength(3);
  });

  it('gives an item back with the history that it was parked with', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3);
    const history = { attempts: 2, deferrals: 5, deferredSince: clock.now - 12_345, returns: 4 };
    await runUnit(store, job, 1, { parked: [parked(0, clock.now, { history }), parked(1, clock.now)] });
    const { open: items } = await store.openItems(job.no, all(job), 'run');
    expect(items.map((item) => item.history)).toEqual([history, attempted(1), FRESH]);
    expect(items.map((item) => item.bytes)).toEqual(newItems(3).map((item) => item.input.length));
  });
}
