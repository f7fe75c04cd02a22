import { EMPTY, indexes, range, size, union, type IndexSet } from '../../../model/index-set';
import {
  LARGE_MS,
  eachWithStore,
  ended,
  flush,
  newItems,
  openUnit,
  parked,
  reread,
  runUnit,
  submit,
  type Open,
} from './kit';

export function parkingConformance(open: Open): void {
  describe('parking', () => {
    due(open);
    crowds(open);
  });
}

function due(open: Open): void {
  const world = eachWithStore(open);

  it('tells the items that are due, and when the next one is', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const now = clock.now;
    const waits = [parked(7, now - 5), parked(2, now), parked(4, now + 1), parked(5, now + 60), parked(9, now - 900)];
    await runUnit(store, job, 1, { parked: waits, settled: ended('succeeded', [0]) });
    expect(await store.due(job.no, EMPTY, 10)).toEqual({ set: [2, 3, 7, 8, 9, 10], more: false, nextDue: now + 1 });
    clock.now += 59;
    expect(await store.due(job.no, EMPTY, 10)).toEqual({
      set: [2, 3, 4, 5, 7, 8, 9, 10],
      more: false,
      nextDue: now + 60,
    });
    clock.now += 1;
    expect(await store.due(job.no, EMPTY, 10)).toMatchObject({ more: false, nextDue: null });
  });

  it('takes those first that were due first, and says that there are more', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const now = clock.now;
    const waits = [parked(0, now - 1), parked(1, now - 3), parked(2, now - 2), parked(3, now - 2), parked(8, now + 5)];
    await runUnit(store, job, 1, { parked: waits });
    expect(await store.due(job.no, EMPTY, 1)).toEqual({ set: [1, 2], more: true, nextDue: null });
    expect(await store.due(job.no, EMPTY, 3)).toEqual({ set: [1, 4], more: true, nextDue: null });
    expect(await store.due(job.no, EMPTY, 4)).toEqual({ set: [0, 4], more: false, nextDue: now + 5 });
  });

  it('leaves out the items in hand, also when it tells what is next', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const now = clock.now;
    const waits = [parked(0, now - 3), parked(1, now - 2), parked(2, now - 1), parked(6, now + 5), parked(7, now + 9)];
    await runUnit(store, job, 1, { parked: waits });
    expect(await store.due(job.no, [0, 1], 1)).toEqual({ set: [1, 2], more: true, nextDue: null });
    expect(await store.due(job.no, [0, 2], 1)).toEqual({ set: [2, 3], more: false, nextDue: now + 5 });
    expect(await store.due(job.no, [0, 2, 5, 7], 1)).toEqual({ set: [2, 3], more: false, nextDue: now + 9 });
    expect(await store.due(job.no, range(0, 10), 1)).toEqual({ set: EMPTY, more: false, nextDue: null });
  });

  it('parks an item anew in place of its last parking', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { parked: [parked(1, clock.now)] })]);
    const history = { attempts: 2, deferrals: 1, deferredSince: 5 };
    const again = parked(1, clock.now + 10, { kind: 'defer', history, error: { code: 'busy', message: 'full' } });
    await store.settle([flush(unit, { parked: [again] })]);
    expect(await store.due(job.no, EMPTY, 5)).toEqual({ set: EMPTY, more: false, nextDue: clock.now + 10 });
    expect(await store.item(job, 'item-1')).toMatchObject({ state: 'deferred', attempts: 2, parked: { deferrals: 1 } });
    expect(await store.counts(job)).toMatchObject({ waiting: 0, deferred: 1, pending: 2 });
  });

  it('tells nothing of other jobs', async () => {
    const { store, clock } = world;
    const [job, other] = [await submit(store, 3), await submit(store, 3)];
    await runUnit(store, other, 1, { parked: [parked(0, clock.now), parked(1, clock.now + 1)] });
    expect(await store.due(job.no, EMPTY, 5)).toEqual({ set: EMPTY, more: false, nextDue: null });
    expect(await store.beginning(job.no)).toEqual({ cursor: 0, nextDue: null });
  });
}

function crowds(open: Open): void {
  const world = eachWithStore(open);

  it(
    'claims 5,000 items with one due time in rounds, each once',
    async () => {
      const { store, clock } = world;
      const job = await submit(store, 5_001);
      const together = newItems(5_000).map((item) => parked(item.index, clock.now));
      await runUnit(store, job, 1, { parked: [...together, parked(5_000, clock.now + 7)] });
      let claimed: IndexSet = EMPTY;
      for (let round = 1; round <= 8; round++) {
        const { set, more, nextDue } = await store.due(job.no, claimed, 700);
        expect(size(union(claimed, set))).toBe(Math.min(5_000, round * 700));
        expect({ more, nextDue }).toEqual(
          round < 8 ? { more: true, nextDue: null } : { more: false, nextDue: clock.now + 7 },
        );
        claimed = union(claimed, set);
      }
      expect(claimed).toEqual(range(0, 5_000));
      expect(await store.due(job.no, EMPTY, 6_000)).toMatchObject({ set: range(0, 5_000), more: false });
    },
    LARGE_MS,
  );

  it('finds the few that are due behind thousands in hand', async () => {
    const { store, clock } = world;
    const job = await submit(store, 5_000);
    await runUnit(store, job, 1, { parked: newItems(5_000).map((item) => parked(item.index, clock.now - item.index)) });
    const inHand = union(range(0, 10), range(12, 5_000));
    const { set, more } = await store.due(job.no, inHand, 5);
    expect([...indexes(set)]).toEqual([10, 11]);
    expect(more).toBe(false);
    expect((await reread(store, job)).state).toBe('running');
  });
}
