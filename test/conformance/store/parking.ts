import fc from 'fast-check';
import { EMPTY, fromIndexes, indexes, range, size, union, type IndexSet } from '../../../model/index-set';
import { CLAIM_LIMIT, CLAIM_PIECES } from '../../../model/pace';
import {
  LARGE_MS,
  eachWithStore,
  ended,
  flush,
  found,
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
    claims(open);
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
    expect(await store.due(job.no, EMPTY, 10)).toEqual({
      due: found({ run: [2, 3, 7, 8, 9, 10] }),
      more: false,
      nextDue: now + 1,
    });
    clock.now += 59;
    expect(await store.due(job.no, EMPTY, 10)).toEqual({
      due: found({ run: [2, 3, 4, 5, 7, 8, 9, 10] }),
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
    expect(await store.due(job.no, EMPTY, 1)).toEqual({ due: found({ run: [1, 2] }), more: true, nextDue: null });
    expect(await store.due(job.no, EMPTY, 3)).toEqual({ due: found({ run: [1, 4] }), more: true, nextDue: null });
    expect(await store.due(job.no, EMPTY, 4)).toEqual({ due: found({ run: [0, 4] }), more: false, nextDue: now + 5 });
  });

  it('leaves out the items in hand, also when it tells what is next', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const now = clock.now;
    const waits = [parked(0, now - 3), parked(1, now - 2), parked(2, now - 1), parked(6, now + 5), parked(7, now + 9)];
    await runUnit(store, job, 1, { parked: waits });
    expect(await store.due(job.no, [0, 1], 1)).toEqual({ due: found({ run: [1, 2] }), more: true, nextDue: null });
    expect(await store.due(job.no, [0, 2], 1)).toEqual({ due: found({ run: [2, 3] }), more: false, nextDue: now + 5 });
    expect(await store.due(job.no, [0, 2, 5, 7], 1)).toEqual({
      due: found({ run: [2, 3] }),
      more: false,
      nextDue: now + 9,
    });
    expect(await store.due(job.no, range(0, 10), 1)).toEqual({ due: found({}), more: false, nextDue: null });
  });

  it('parks an item anew in place of its last parking', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { parked: [parked(1, clock.now)] })]);
    const history = { attempts: 2, deferrals: 1, deferredSince: 5, returns: 3 };
    const again = parked(1, clock.now + 10, { kind: 'defer', history, error: { code: 'busy', message: 'full' } });
    await store.settle([flush(unit, { parked: [again] })]);
    expect(await store.due(job.no, EMPTY, 5)).toEqual({ due: found({}), more: false, nextDue: clock.now + 10 });
    expect(await store.item(job, 'item-1')).toMatchObject({ state: 'deferred', attempts: 2, parked: { deferrals: 1 } });
    expect(await store.counts(job)).toMatchObject({ waiting: 0, deferred: 1, pending: 2 });
  });

  it('tells nothing of other jobs', async () => {
    const { store, clock } = world;
    const [job, other] = [await submit(store, 3), await submit(store, 3)];
    await runUnit(store, other, 1, { parked: [parked(0, clock.now), parked(1, clock.now + 1)] });
    expect(await store.due(job.no, EMPTY, 5)).toEqual({ due: found({}), more: false, nextDue: null });
    expect(await store.beginning(job.no)).toEqual({ cursor: 0, nextDue: null });
  });
}

function claims(open: Open): void {
  const world = eachWithStore(open);
  const ITEMS = 12;
  const ITEM = fc.record({
    index: fc.nat({ max: ITEMS - 1 }),
    ms: fc.integer({ min: -3, max: 3 }),
    lane: fc.constantFrom('run', 'run', 'check', 'quarantine'),
  });

  it(
    'give each lane its items, in the order that they were due',
    async () => {
      const { store, clock } = world;
      const items = fc.uniqueArray(ITEM, { selector: (item) => item.index });
      const exclude = fc.array(fc.nat({ max: ITEMS - 1 }), { maxLength: 4 });
      const asked = fc.tuple(items, exclude, fc.nat({ max: ITEMS }), fc.constantFrom(undefined, 'run' as const));
      const property = fc.asyncProperty(asked, async ([all, excluded, limit, without]) => {
        const job = await submit(store, ITEMS);
        const unit = await openUnit(store, job, 1);
        const suspects = all.filter((item) => item.lane === 'quarantine');
        const due = (item: (typeof all)[number]) => (item.lane === 'quarantine' ? clock.now : clock.now + item.ms);
        await store.suspect(
          suspects.map(({ index }) => ({ jobNo: job.no, generation: 1, seq: 1, index })),
          { code: 'x', message: 'y' },
        );
        const parkings = all
          .filter((item) => item.lane !== 'quarantine')
          .map((item) => parked(item.index, due(item), { kind: item.lane === 'check' ? 'wait' : 'retry' }));
        await store.settle([flush(unit, { parked: parkings })]);
        const free = all
          .filter((item) => !excluded.includes(item.index))
          .sort((a, b) => due(a) - due(b) || a.index - b.index);
        const wanted = free.filter((item) => due(item) <= clock.now && item.lane !== without);
        const lane = (name: string): IndexSet =>
          fromIndexes(wanted.slice(0, limit).flatMap((item) => (item.lane === name ? [item.index] : [])));
        const more = wanted.length > limit;
        const later = free.filter((item) => due(item) > clock.now).map(due);
        expect(await store.due(job.no, fromIndexes(excluded), limit, without)).toEqual({
          due: { run: lane('run'), check: lane('check'), quarantine: lane('quarantine') },
          more,
          nextDue: more ? null : (later[0] ?? null),
        });
      });
      await fc.assert(property, { numRuns: 60 });
    },
    LARGE_MS,
  );

  it('give no more ranges of a lane than the machine can hold, and the rest later', async () => {
    const { store, clock } = world;
    const count = 2 * CLAIM_PIECES + 300;
    const job = await submit(store, 2 * count);
    const even = newItems(count).map((item) => parked(2 * item.index, clock.now - 1));
    const waits = [1, 3].map((index) => parked(index, clock.now, { kind: 'wait', error: null }));
    await runUnit(store, job, 1, { parked: [...even, ...waits, parked(7, clock.now + 9)] });
    let claimed: IndexSet = EMPTY;
    for (let left = count; left > 0; left -= CLAIM_PIECES) {
      const { due: claim, more, nextDue } = await store.due(job.no, claimed, CLAIM_LIMIT);
      expect(size(claim.run)).toBe(Math.min(left, CLAIM_PIECES));
      // What is scattered in one lane holds up no other.
      expect(claim.check).toEqual([1, 2, 3, 4]);
      expect({ more, nextDue }).toEqual(
        left > CLAIM_PIECES ? { more: true, nextDue: null } : { more: false, nextDue: clock.now + 9 },
      );
      claimed = union(claimed, claim.run);
    }
    expect(claimed).toEqual(fromIndexes(even.map((item) => item.index)));
  });

  it('take items that come due in any order as the ranges that they make together', async () => {
    const { store, clock } = world;
    const count = 3 * CLAIM_PIECES;
    const job = await submit(store, count);
    // All even ones first, in thousands of ranges; the odd ones fill the gaps.
    const mixed = newItems(count).map((item) => parked(item.index, clock.now - 10 + 5 * (item.index % 2)));
    await runUnit(store, job, 1, { parked: mixed });
    expect(await store.due(job.no, EMPTY, CLAIM_LIMIT)).toEqual({
      ...{ due: found({ run: range(0, count) }), more: false, nextDue: null },
    });
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
        const { due: claim, more, nextDue } = await store.due(job.no, claimed, 700);
        const set = claim.run;
        expect(size(union(claimed, set))).toBe(Math.min(5_000, round * 700));
        expect({ more, nextDue }).toEqual(
          round < 8 ? { more: true, nextDue: null } : { more: false, nextDue: clock.now + 7 },
        );
        claimed = union(claimed, set);
      }
      expect(claimed).toEqual(range(0, 5_000));
      expect(await store.due(job.no, EMPTY, 6_000)).toMatchObject({ due: { run: range(0, 5_000) }, more: false });
    },
    LARGE_MS,
  );

  it('finds the few that are due behind thousands in hand', async () => {
    const { store, clock } = world;
    const job = await submit(store, 5_000);
    await runUnit(store, job, 1, { parked: newItems(5_000).map((item) => parked(item.index, clock.now - item.index)) });
    const inHand = union(range(0, 10), range(12, 5_000));
    const { due: claim, more } = await store.due(job.no, inHand, 5);
    expect([...indexes(claim.run)]).toEqual([10, 11]);
    expect(more).toBe(false);
    expect((await reread(store, job)).state).toBe('running');
  });
}
