import { fromIndexes, range, type IndexSet } from '../../../model/index-set';
import type { Fence, IntentWrite, JobRecord } from '../../../store';
import {
  all,
  eachWithStore,
  ended,
  fence,
  finishAll,
  flush,
  intent,
  openUnit,
  parked,
  resultOf,
  submit,
  type Open,
} from './kit';

export function batchesConformance(open: Open): void {
  describe('batches that keep their members', () => {
    pinning(open);
    owning(open);
  });
}

/** An intent of a call for a batch, named by its members. */
function batch(job: JobRecord, unit: Fence, members: IndexSet, more: Partial<IntentWrite> = {}): IntentWrite {
  return intent(job, unit, members[0]!, { subject: `b:${members.join()}`, members, ...more });
}

function pinning(open: Open): void {
  const world = eachWithStore(open);

  it('are found by any of their open items, with all of their members', async () => {
    const { store } = world;
    const job = await submit(store, 40);
    const unit = await openUnit(store, job, 1);
    const [scattered, row, high] = [fromIndexes([0, 3, 4, 9]), range(10, 20), range(30, 35)];
    await store.journal([batch(job, unit, scattered), batch(job, unit, row), batch(job, unit, high)]);
    await store.settle([flush(unit, { settled: ended('succeeded', [3, 30, 31]), parked: [parked(4, 9e15)] })]);
    const mine = (...sets: IndexSet[]) => sets.map((members) => ({ members, mine: true }));
    expect(await store.pinnedBatches(unit, all(job))).toEqual(mine(scattered, row, high));
    expect(await store.pinnedBatches(unit, range(9, 11))).toEqual(mine(scattered, row));
    expect(await store.pinnedBatches(unit, [4, 5])).toEqual(mine(scattered));
    // Nothing open of it: 3 has ended, and 5 lies between its members.
    expect(await store.pinnedBatches(unit, [3, 4, 5, 9])).toEqual([]);
    expect(await store.pinnedBatches(unit, range(30, 32))).toEqual([]);
    expect(await store.pinnedBatches(unit, range(31, 33))).toEqual(mine(high));
    expect(await store.pinnedBatches(unit, range(20, 30))).toEqual([]);
    expect(await store.pinnedBatches(unit, [])).toEqual([]);
  });

  it('keep the members of the first intent, whatever later ones say, and also when it has its result', async () => {
    const { store } = world;
    const job = await submit(store, 9);
    const unit = await openUnit(store, job, 1);
    const write = batch(job, unit, range(0, 4));
    await store.journal([write, { ...write, call: 'refund', members: range(0, 7) }, resultOf(write, 1)]);
    expect(await store.pinnedBatches(unit, all(job))).toEqual([{ members: range(0, 4), mine: true }]);
  });

  it('are kept for no intent that was refused, and for no other job', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 9), await submit(store, 9)];
    const [unit, another] = [await openUnit(store, job, 1), await openUnit(store, other, 1)];
    await store.journal([batch(job, fence(job, 8), range(0, 4)), batch(job, unit, range(5, 7))]);
    expect(await store.pinnedBatches(unit, all(job))).toEqual([{ members: range(5, 7), mine: true }]);
    expect(await store.pinnedBatches(another, all(other))).toEqual([]);
  });

  it('go with the job', async () => {
    const { store } = world;
    const job = await submit(store, 9);
    const unit = await openUnit(store, job, 1);
    await store.journal([batch(job, unit, range(0, 4))]);
    await finishAll(store, job, 'failed');
    expect(await store.pinnedBatches(unit, all(job))).toEqual([]);
    await store.deleteJob(job.no);
    await store.dropUpload(job.no);
  });
}

function owning(open: Open): void {
  const world = eachWithStore(open);

  it('are left to the open unit that has them, and go to the next one when that is closed', async () => {
    const { store } = world;
    const job = await submit(store, 9);
    const [one, two] = [await openUnit(store, job, 1), await openUnit(store, job, 2)];
    const members = range(0, 4);
    await store.journal([batch(job, one, members)]);
    expect(await store.pinnedBatches(two, [2, 4])).toEqual([{ members, mine: false }]);
    expect(await store.pinnedBatches(one, [2, 4])).toEqual([{ members, mine: true }]);
    await store.settle([flush(one, { close: true })]);
    expect(await store.pinnedBatches(two, [2, 4])).toEqual([{ members, mine: true }]);
    const three = await openUnit(store, job, 3);
    expect(await store.pinnedBatches(three, [2, 4])).toEqual([{ members, mine: false }]);
    await store.recover(job.no, 1, 2, []);
    expect(await store.pinnedBatches(three, [2, 4])).toEqual([{ members, mine: true }]);
  });

  it('go to one of two units that ask at once over two connections', async () => {
    const { store } = world;
    const other = await world.reopen();
    const job = await submit(store, 9);
    const first = await openUnit(store, job, 1);
    const members = range(0, 4);
    await store.journal([batch(job, first, members)]);
    await store.settle([flush(first, { close: true })]);
    const [one, two] = [await openUnit(store, job, 2), await openUnit(store, job, 3)];
    const answers = await Promise.all([store.pinnedBatches(one, [0, 2]), other.pinnedBatches(two, [2, 4])]);
    expect(answers.flat().filter(({ mine }) => mine)).toHaveLength(1);
    expect(answers.flat()).toHaveLength(2);
  });

  it('go on to the units of the next generation, and are given to no older one', async () => {
    const { store } = world;
    const job = await submit(store, 9);
    const older = await openUnit(store, job, 1);
    const members = range(0, 4);
    await store.journal([batch(job, older, members)]);
    await store.nextGeneration(job.no, 1);
    const newer = await openUnit(store, job, 1, { generation: 2 });
    expect(await store.pinnedBatches(older, all(job))).toEqual([{ members, mine: false }]);
    expect(await store.pinnedBatches(newer, all(job))).toEqual([{ members, mine: true }]);
    const next = await openUnit(store, job, 2, { generation: 2 });
    expect(await store.pinnedBatches(next, all(job))).toEqual([{ members, mine: false }]);
  });
}
