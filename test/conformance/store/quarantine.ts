import { range } from '../../../model/index-set';
import { LOSS_LIMIT } from '../../../model/quarantine';
import type { JobRecord, Store } from '../../../store';
import {
  all,
  attempted,
  eachWithStore,
  ended,
  fence,
  finishAll,
  flush,
  found,
  openUnit,
  parked,
  reread,
  runUnit,
  startWaits,
  submit,
  type Open,
} from './kit';

const WHY = { code: 'killed', message: 'its process was killed (SIGKILL)' };

export function quarantineConformance(open: Open): void {
  describe('quarantine', () => {
    losses(open);
    suspects(open);
    deaths(open);
    returns(open);
  });
}

const started = (job: JobRecord, seq: number, indexes: readonly number[], generation = 1) =>
  indexes.map((index) => ({ jobNo: job.no, generation, seq, index }));

const warnings = async (store: Store, job: JobRecord) =>
  (await store.log(job.no, { after: 0, limit: 100 })).filter((line) => line.level === 'warn');

function losses(open: Open): void {
  const world = eachWithStore(open);

  async function lose(job: JobRecord, seq: number, set = all(job)) {
    await openUnit(world.store, job, seq);
    return (await world.store.recover(job.no, 1, seq, set)).open;
  }

  it('makes a suspect of an item that was in lost units for the third time, and counts no attempt', async () => {
    const { store, clock } = world;
    const job = await submit(store, 4);
    for (let seq = 1; seq < LOSS_LIMIT; seq++) expect(await lose(job, seq, [1, 3])).toEqual(found({ run: [1, 3] }));
    expect(await store.item(job, 'item-1')).toMatchObject({ state: 'waiting', attempts: 0, parked: { kind: 'retry' } });
    expect(await lose(job, LOSS_LIMIT, range(2, 4))).toEqual(found({ run: [3, 4], quarantine: [2, 3] }));
    expect(await store.item(job, 'item-2')).toMatchObject({
      ...{ state: 'waiting', attempts: 0, parked: { kind: 'suspect', due: clock.now, error: { code: 'lost' } } },
    });
    expect(await store.due(job.no, [], 9)).toEqual({
      ...{ due: found({ run: [1, 2, 3, 4], quarantine: [2, 3] }), more: false, nextDue: null },
    });
    expect(await store.openItems(job.no, all(job), 'run')).toMatchObject({ elsewhere: { quarantine: [2, 3] } });
  });

  it('counts a unit that is recovered twice once, and one that was never opened or has ended not at all', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    await runUnit(store, job, 1, {});
    for (let round = 0; round < LOSS_LIMIT; round++) {
      expect((await store.recover(job.no, 1, 1, all(job))).open).toEqual(found({ run: [0, 2] }));
      expect((await store.recover(job.no, 1, 50 + round, all(job))).open).toEqual(found({ run: [0, 2] }));
    }
    expect(await store.counts(job)).toMatchObject({ pending: 2, waiting: 0 });
    await openUnit(store, job, 2);
    for (let round = 0; round < LOSS_LIMIT; round++) await store.recover(job.no, 1, 2, all(job));
    expect(await store.openItems(job.no, all(job), 'run')).toMatchObject({ elsewhere: { quarantine: [] } });
  });

  it('counts nothing where a supervisor said what had started, be it nothing that is open', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    for (let seq = 1; seq <= LOSS_LIMIT; seq++) {
      const unit = await openUnit(store, job, seq);
      await store.settle([flush(unit, { settled: ended('failed', [0]) })]);
      expect(await store.suspect(started(job, seq, [0]), WHY)).toBe(0);
      expect((await store.recover(job.no, 1, seq, all(job))).open).toEqual(found({ run: [1, 3] }));
    }
    expect(await store.counts(job)).toMatchObject({ pending: 2, waiting: 0 });
    expect(await warnings(store, job)).toEqual([]);
  });

  it('takes what a supervisor said of a delivery for that delivery only', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    for (let seq = 1; seq <= LOSS_LIMIT; seq++) {
      await openUnit(store, job, seq);
      await store.suspect(started(job, seq, [1]), WHY);
      await openUnit(store, job, seq, { delivery: 'second' });
      await store.recover(job.no, 1, seq, all(job));
    }
    expect(await store.openItems(job.no, all(job), 'run')).toMatchObject({
      open: [],
      elsewhere: { quarantine: [0, 2] },
    });
  });

  it('forgets the losses of an item whose attempt came to an end', async () => {
    const { store, clock } = world;
    const job = await submit(store, 1);
    for (let seq = 1; seq < LOSS_LIMIT; seq++) await lose(job, seq);
    await runUnit(store, job, 10, { parked: [parked(0, clock.now)] });
    for (let seq = 11; seq < 10 + LOSS_LIMIT; seq++) expect(await lose(job, seq)).toEqual(found({ run: [0, 1] }));
    expect(await lose(job, 20)).toEqual(found({ quarantine: [0, 1] }));
  });

  it('holds a loss against nothing that is parked for later, waits, or has ended', async () => {
    const { store, clock } = world;
    const job = await submit(store, 5);
    const unit = await openUnit(store, job, 1);
    const due = clock.now + 50;
    await startWaits(store, job, unit, [2], { due: clock.now });
    await store.settle([
      flush(unit, { settled: ended('failed', [0]), parked: [parked(1, due), parked(3, clock.now, { kind: 'defer' })] }),
    ]);
    for (let seq = 1; seq <= LOSS_LIMIT; seq++) await lose(job, seq);
    clock.now = due;
    expect(await store.due(job.no, [], 9)).toMatchObject({
      due: found({ run: [1, 2], check: [2, 3], quarantine: [3, 5] }),
    });
    expect(await store.item(job, 'item-3')).toMatchObject({ attempts: 1, parked: { kind: 'suspect', deferrals: 0 } });
  });
}

function suspects(open: Open): void {
  const world = eachWithStore(open);

  it('are the items that had started, with what they have behind them, and are run in quarantine alone', async () => {
    const { store, clock } = world;
    const job = await submit(store, 30);
    const history = { attempts: 2, deferrals: 3, deferredSince: 7, returns: 4 };
    await runUnit(store, job, 9, { parked: [parked(5, clock.now, { history, kind: 'defer' })] });
    await openUnit(store, job, 1);
    expect(await store.suspect(started(job, 1, [4, 5, 4]), WHY)).toBe(2);
    expect(await store.recover(job.no, 1, 1, range(3, 7))).toEqual({
      ...{ open: found({ run: [3, 4, 6, 7], quarantine: [4, 6] }), nextDue: null },
    });
    const run = await store.openItems(job.no, range(3, 7), 'run');
    expect(run.open.map((item) => item.index)).toEqual([3, 6]);
    expect(run.elsewhere).toEqual({ check: [], quarantine: [4, 6] });
    const alone = await store.openItems(job.no, [4, 6], 'quarantine');
    expect(alone.open.map((item) => [item.index, item.history])).toEqual([
      [4, attempted(0)],
      [5, history],
    ]);
    expect(alone.elsewhere).toEqual({ check: [], quarantine: [] });
    expect(await store.item(job, 'item-5')).toMatchObject({
      ...{ state: 'waiting', attempts: 2, parked: { kind: 'suspect', due: clock.now, error: WHY } },
    });
  });

  it('are named in the log, ten of them, with the reason', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 30), await submit(store, 5)];
    await openUnit(store, job, 1);
    await openUnit(store, other, 1);
    const both = [...started(job, 1, [...Array(12).keys()]), ...started(other, 1, [3])];
    expect(await store.suspect(both, WHY)).toBe(13);
    const [line, ...more] = await warnings(store, job);
    expect(more).toEqual([]);
    expect(line).toMatchObject({ source: 'runner' });
    expect(line!.message).toContain(WHY.message);
    expect(line!.message).toMatch(/item-0, .*item-9 and 2 more$/);
    expect((await warnings(store, other))[0]!.message).toMatch(/: item-3$/);
  });

  it('are not those that have ended, are parked for later, or wait', async () => {
    const { store, clock } = world;
    const job = await submit(store, 6);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [1], { due: clock.now });
    const later = [parked(2, clock.now + 1), parked(3, clock.now + 1, { kind: 'defer' })];
    await store.settle([flush(unit, { settled: ended('failed', [0]), parked: [...later, parked(4, clock.now)] })]);
    expect(await store.suspect(started(job, 1, [0, 1, 2, 3, 4, 5, 6]), WHY)).toBe(2);
    expect(await store.due(job.no, [], 9)).toMatchObject({ due: found({ check: [1, 2], quarantine: [4, 6] }) });
  });

  it('are found after the unit was closed too, and not for an older generation or a job that has ended', async () => {
    const { store } = world;
    const [job, closed] = [await submit(store, 4), await submit(store, 4)];
    await openUnit(store, job, 1);
    await store.recover(job.no, 1, 1, all(job));
    expect(await store.suspect(started(job, 1, [2]), WHY)).toBe(1);
    await store.nextGeneration(job.no, 1);
    expect(await store.suspect(started(job, 1, [1]), WHY)).toBe(0);
    expect(await store.suspect(started(job, 1, [1], 3), WHY)).toBe(0);
    await openUnit(store, closed, 1);
    await finishAll(store, closed, 'failed');
    const before = await reread(store, closed);
    expect(await store.suspect([...started(closed, 1, [1]), ...started(job, 99, []), ...GONE], WHY)).toBe(0);
    expect(await reread(store, closed)).toEqual(before);
    expect(await store.suspect([], WHY)).toBe(0);
  });
  const GONE = [{ jobNo: 99_999, generation: 1, seq: 1, index: 0 }];

  it('are forgotten with their outcome, and run like others after an attempt that came to an end', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2);
    const unit = await openUnit(store, job, 1);
    await store.suspect(started(job, 1, [0, 1]), WHY);
    await store.settle([flush(unit, { settled: ended('succeeded', [0]), parked: [parked(1, clock.now)] })]);
    expect(await store.due(job.no, [], 9)).toMatchObject({ due: found({ run: [1, 2] }) });
  });
}

function deaths(open: Open): void {
  const world = eachWithStore(open);

  it('are counted for the delivery that has the unit, and let the item alone for a second', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    expect(await store.diedAlone(unit, 1, WHY)).toBe(1);
    expect(await store.due(job.no, [], 9)).toEqual({ due: found({}), more: false, nextDue: clock.now + 1_000 });
    expect(await store.diedAlone(unit, 1, { ...WHY, message: 'again' })).toBe(2);
    expect(await store.due(job.no, [], 9)).toMatchObject({ due: found({}) });
    expect(await store.item(job, 'item-1')).toMatchObject({
      parked: { kind: 'suspect', error: { message: 'again' } },
      attempts: 0,
    });
    for (const refused of [fence(job, 1, { delivery: 'other' }), fence(job, 2), fence(job, 1, { generation: 2 })]) {
      expect(await store.diedAlone(refused, 1, WHY)).toBe(0);
      expect(await store.diedAlone(refused, 2, WHY)).toBe(0);
    }
    expect(await store.item(job, 'item-1')).toMatchObject({ parked: { error: { message: 'again' } } });
    expect(await store.suspect(started(job, 1, [1]), WHY)).toBe(1);
    expect(await store.due(job.no, [], 9)).toMatchObject({ due: found({ quarantine: [1, 2] }) });
    expect(await store.item(job, 'item-2')).toMatchObject({ parked: null });
  });

  it('are remembered over attempts and lost units, and not of an item that has ended', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2);
    const unit = await openUnit(store, job, 1);
    await store.diedAlone(unit, 0, WHY);
    await store.settle([flush(unit, { parked: [parked(0, clock.now)] })]);
    await store.recover(job.no, 1, 1, all(job));
    const next = await openUnit(store, job, 2);
    await store.suspect(started(job, 2, [0]), WHY);
    expect(await store.diedAlone(next, 0, WHY)).toBe(2);
    expect(await store.item(job, 'item-0')).toMatchObject({ attempts: 1 });
    await store.settle([flush(next, { settled: ended('failed', [0]) })]);
    expect(await store.diedAlone(next, 0, WHY)).toBe(0);
    expect(await store.item(job, 'item-0')).toMatchObject({ state: 'failed', parked: null });
  });
}

function returns(open: Open): void {
  const world = eachWithStore(open);
  const back = (index: number, more = {}) => ({ index, history: { ...attempted(1), returns: 2, ...more } });

  it('keep their history, and come due at once as what they were', async () => {
    const { store, clock } = world;
    const job = await submit(store, 6);
    const unit = await openUnit(store, job, 1);
    await store.suspect(started(job, 1, [1]), WHY);
    await startWaits(store, job, unit, [2], { due: clock.now + 90 });
    const waits = [parked(3, clock.now - 9, { kind: 'defer' }), parked(4, clock.now + 9)];
    await store.settle([flush(unit, { settled: ended('failed', [5]), parked: waits })]);
    const returned = [back(0), back(1), back(2), back(3, { deferrals: 4, deferredSince: 8 }), back(4), back(5)];
    expect(await store.settle([flush(unit, { returned, close: true })])).toEqual([true]);
    const views = await store.items(job, { after: -1, limit: 9 });
    expect(views.map((view) => view.parked && [view.parked.kind, view.parked.due - clock.now])).toEqual([
      ...[['retry', 0], ['suspect', 0], ['wait', 90], ['defer', -9], ['retry', 0], null],
    ]);
    expect(views[0]!.parked!.error).toMatchObject({ code: 'returned' });
    const { open: items } = await store.openItems(job.no, all(job), 'quarantine');
    expect(items.map((item) => item.history)).toEqual([
      ...[back(0), back(1), back(3, { deferrals: 4, deferredSince: 8 }), back(4)].map(({ history }) => history),
    ]);
  });

  it('are written for the delivery that has the unit only', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    await openUnit(store, job, 1);
    expect(await store.settle([flush(fence(job, 1, { delivery: 'other' }), { returned: [back(0)] })])).toEqual([false]);
    expect(await store.counts(job)).toMatchObject({ pending: 1 });
  });
}
