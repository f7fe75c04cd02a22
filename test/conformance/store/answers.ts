import { FRESH } from '../../../model/attempts';
import { indexes } from '../../../model/index-set';
import type { Store } from '../../../store';
import {
  all,
  answerWaits,
  attempted,
  eachWithStore,
  ended,
  flush,
  found,
  intent,
  newItems,
  openUnit,
  parked,
  resultOf,
  start,
  startWaits,
  submit,
  type Open,
} from './kit';

export function answersConformance(open: Open): void {
  describe('the answer to a wait', () => {
    answering(open);
    resuming(open);
    crowds(open);
  });
}

const page = { after: -1, limit: 100 };

function answering(open: Open): void {
  const world = eachWithStore(open);

  it('lets its item go on at once, with the answer as it was given', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [1, 2], { due: clock.now + 100 });
    const answer = { nul: 'a\0b', lone: '\uDC00', n: [1.5, null] };
    await answerWaits(store, unit, [{ index: 1, answer }]);
    expect(await store.inputs(job.no, all(job))).toEqual([
      { ...newItems(1, 0)[0], resume: null },
      { ...newItems(1, 1)[0], resume: { wait: 'verdict', ordinal: 1, answer } },
      { ...newItems(1, 2)[0], resume: null },
    ]);
    expect(await store.due(job.no, [], 9)).toMatchObject({ due: found({ run: [1, 2] }) });
    const { open: items } = await store.openItems(job.no, all(job), 'run');
    expect(items.map((item) => [item.index, item.history])).toEqual([
      [0, FRESH],
      [1, attempted(1)],
    ]);
    expect(await store.item(job, 'item-1')).toMatchObject({
      ...{ state: 'waiting', parked: { kind: 'answer', due: clock.now }, wait: null },
    });
    expect(await store.openWaitsOf(job.no, page)).toMatchObject([{ index: 2 }]);
  });

  it('is answered once, by the delivery that has the unit', async () => {
    const { store, clock } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [0], { due: clock.now });
    const late = flush(unit, { checked: { pending: [], answered: [{ index: 0, answer: 'late' }] } });
    const newer = await openUnit(store, job, 1, { delivery: 'second' });
    expect(await store.settle([late])).toEqual([false]);
    await answerWaits(store, newer, [{ index: 0, answer: 'first' }]);
    await answerWaits(store, newer, [{ index: 0, answer: 'second' }]);
    expect(await store.inputs(job.no, all(job))).toMatchObject([{ resume: { answer: 'first' } }]);
  });

  it('ends with the outcome of its item', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [0, 1, 2], { due: clock.now });
    await answerWaits(store, unit, [{ index: 1, answer: 1 }]);
    const checked = { pending: [], answered: [{ index: 0, answer: 1 }] };
    await store.settle([flush(unit, { settled: ended('failed', [0, 1]), checked })]);
    expect((await store.openWaitsOf(job.no, page)).map((one) => one.index)).toEqual([2]);
    expect((await store.inputs(job.no, all(job))).map((item) => item.resume)).toEqual([null, null, null]);
    expect(await store.due(job.no, [], 9)).toMatchObject({ due: found({ check: [2, 3] }) });
    expect(await store.item(job, 'item-0')).toMatchObject({ state: 'failed', parked: null, wait: null });
  });
}

function resuming(open: Open): void {
  const world = eachWithStore(open);
  const resume = async (store: Store, no: number) => (await store.inputs(no, [0, 1]))[0]?.resume;

  it('gives its answer to every later attempt, whatever became of the one before', async () => {
    const { store, clock } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [0], { due: clock.now });
    await answerWaits(store, unit, [{ index: 0, answer: 'yes' }]);
    const first = { wait: 'verdict', ordinal: 1, answer: 'yes' };
    await store.settle([flush(unit, { returned: [{ index: 0, history: { ...FRESH, returns: 1 } }] })]);
    expect(await store.item(job, 'item-0')).toMatchObject({ parked: { kind: 'answer' } });
    expect(await resume(store, job.no)).toEqual(first);
    await store.settle([flush(unit, { parked: [parked(0, clock.now)] })]);
    expect(await resume(store, job.no)).toEqual(first);
    await store.suspect([{ jobNo: job.no, generation: 1, seq: 1, index: 0 }], { code: 'x', message: 'y' });
    expect(await resume(store, job.no)).toEqual(first);
  });

  it('gives the answer before while the next wait is started and open, and that of the next one from then on', async () => {
    const { store, clock } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [0], { due: clock.now });
    await answerWaits(store, unit, [{ index: 0, answer: 'yes' }]);
    const first = { wait: 'verdict', ordinal: 1, answer: 'yes' };
    const next = start(job, unit, 0, { name: 'review', ordinal: 2 });
    const { rootNo, subject, call, token } = next;
    // Its start fails; the attempt after it has to go on from the same place.
    await store.journal([next, { type: 'withdrawn', rootNo, subject, call, token }]);
    expect(await resume(store, job.no)).toEqual(first);
    await store.journal([next]);
    expect(await resume(store, job.no)).toEqual(first);
    await startWaits(store, job, unit, [0], { due: clock.now, name: 'review', ordinal: 2 });
    expect(await resume(store, job.no)).toEqual(first);
    expect(await store.openWaits(job.no, all(job))).toMatchObject({ waits: [{ wait: 'review' }] });
    expect(await store.item(job, 'item-0')).toMatchObject({ wait: { name: 'review', remoteId: 'r0' } });
    await answerWaits(store, unit, [{ index: 0, answer: 'no' }]);
    expect(await resume(store, job.no)).toEqual({ wait: 'review', ordinal: 2, answer: 'no' });
    await store.journal([start(job, unit, 0, { token: 'once more' })]);
    await store.settle([flush(unit, { settled: ended('succeeded', [0]) })]);
    expect(await resume(store, job.no)).toBeNull();
  });

  it('is no other call of its item', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    const charge = intent(job, unit, 0, { call: 'wait:verdict#1', subject: 'i:item-1' });
    await store.journal([start(job, unit, 0), charge, resultOf(charge, 'r1')]);
    expect(await store.item(job, 'item-0')).toMatchObject({ wait: { remoteId: null } });
  });
}

function crowds(open: Open): void {
  const world = eachWithStore(open);

  it('checks and answers thousands at once', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3_000);
    const unit = await openUnit(store, job, 1);
    const every = [...indexes(all(job))];
    await startWaits(store, job, unit, every, { due: clock.now });
    const odd = every.filter((index) => index % 2 === 1);
    const even = every.filter((index) => index % 2 === 0).flatMap((index) => [index, index + 1]);
    const answered = odd.map((index) => ({ index, answer: { index } }));
    await store.settle([
      flush(unit, { checked: { pending: [{ set: even, due: clock.now + 9, failed: false }], answered } }),
    ]);
    const { open: going, nextDue } = await store.openItems(job.no, all(job), 'run');
    expect(going.map((item) => item.index)).toEqual(odd);
    expect(nextDue).toBe(clock.now + 9);
    expect((await store.inputs(job.no, [2_001, 2_002]))[0]?.resume).toMatchObject({ answer: { index: 2_001 } });
    clock.now += 9;
    const { waits } = await store.openWaits(job.no, all(job));
    expect(waits.map((one) => one.index)).toEqual(every.filter((index) => index % 2 === 0));
    expect(new Set(waits.map((one) => one.checks))).toEqual(new Set([1]));
  });
}
