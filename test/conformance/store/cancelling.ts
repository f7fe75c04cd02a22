import { fromIndexes, range } from '../../../model/index-set';
import { CANCELLED, UNKNOWN_CHARGE } from '../../../model/reasons';
import type { JobRecord, Store } from '../../../store';
import {
  LARGE_MS,
  all,
  answerWaits,
  attempted,
  eachWithStore,
  ended,
  fence,
  flush,
  intent,
  openUnit,
  parked,
  reread,
  resultOf,
  start,
  startWaits,
  submit,
  type Open,
} from './kit';

export function cancellingConformance(open: Open): void {
  describe('cancelling', () => {
    receipt(open);
    openCalls(open);
    endings(open);
  });
}

function receipt(open: Open): void {
  const world = eachWithStore(open);

  it('says what ran, what stopped, and what vendors were asked to stop', async () => {
    const { store, clock } = world;
    const job = await submit(store, 20);
    const one = await openUnit(store, job, 1);
    const two = await openUnit(store, job, 2);
    const three = await openUnit(store, job, 3);
    const running = [flush(one, { running: 4 }), flush(two, { running: 3 })];
    await store.settle([...running, flush(three, { running: 9, close: true })]);
    const none = { stopped: 0, vendorCancels: { sent: 0, failed: 0 } };
    const asked = { at: clock.now, by: 'ann', running: 7, ...none };
    expect((await store.requestCancel(job.no, 'ann')).cancel).toEqual(asked);
    clock.now += 5;
    await store.settle([flush(one, { running: 0, stopped: 3 }), flush(two, { stopped: 2 })]);
    await store.settle([flush(fence(job, 1, { delivery: 'other' }), { stopped: 100 }), flush(one)]);
    await store.noteVendorCancels(job.no, 4, 1);
    await store.noteVendorCancels(job.no, 2, 0);
    expect((await store.requestCancel(job.no, 'bob')).cancel).toEqual({
      ...asked,
      stopped: 5,
      vendorCancels: { sent: 6, failed: 1 },
    });
  });

  it('is all zero for a job that ran nothing, and none for one that was not cancelled', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    await store.noteVendorCancels(job.no, 1, 1);
    expect((await reread(store, job)).cancel).toBeNull();
    const other = await submit(store, 2);
    expect((await store.requestCancel(other.no, 'ann')).cancel).toMatchObject({ running: 0, stopped: 0 });
  });
}

/** Items 0 to 9 with a call each that stands differently. */
async function callsOfAllKinds(store: Store, job: JobRecord): Promise<void> {
  const unit = await openUnit(store, job, 1);
  const calls = Array.from({ length: 7 }, (_, index) => intent(job, unit, index));
  const { rootNo, subject, call } = calls[2]!;
  const batch = intent(job, unit, 7, { subject: 'b:x', call: 'bulk', members: fromIndexes([7, 9]), key: 'bulk-key' });
  await store.journal([
    ...calls.slice(0, 4),
    intent(job, unit, 4, { kind: 'once' }),
    start(job, unit, 5, { key: 'start-key' }),
    calls[6]!,
    batch,
    resultOf(calls[1]!, 'paid'),
    { type: 'unknown', rootNo, subject, call, remoteId: 'remote-2' },
    intent(job, unit, 2, { call: 'second', vendor: null, key: 'second-key' }),
  ]);
  await store.settle([flush(unit, { settled: ended('succeeded', [6]), parked: [parked(3, 9e15)] })]);
}

function openCalls(open: Open): void {
  const world = eachWithStore(open);

  it('tells the open items with a call whose answer is not known, their own or that of their batch', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 12), await submit(store, 12)];
    await callsOfAllKinds(store, job);
    expect(await store.openIntents(job.no)).toEqual(fromIndexes([0, 2, 3, 5, 7, 9]));
    expect(await store.openIntents(other.no)).toEqual([]);
    expect(await store.openIntents(99_999)).toEqual([]);
  });
}

function endings(open: Open): void {
  const world = eachWithStore(open);

  it('hands those with a call whose answer is not known to a person, and skips the others', async () => {
    const { store, clock } = world;
    const job = await submit(store, 12);
    await callsOfAllKinds(store, job);
    clock.now += 7;
    expect(await store.endCancelled(job.no)).toEqual({ skipped: 5, unknown: 6 });
    const views = await store.items(job, { after: -1, limit: 20 });
    const charge = { call: 'charge', vendor: 'acme-pay', key: 'key-0' };
    const unknown = (calls: unknown[], more = {}) => ({ reason: UNKNOWN_CHARGE, draft: { calls }, ...more });
    const skipped = { reason: CANCELLED };
    const bulk = unknown([{ call: 'bulk', vendor: 'acme-pay', key: 'bulk-key' }]);
    expect(views.filter((view) => view.index !== 6).map((view) => view.body)).toEqual([
      unknown([charge]),
      skipped,
      unknown(
        [
          { ...charge, key: 'key-2' },
          { call: 'second', vendor: null, key: 'second-key' },
        ],
        {
          remoteId: 'remote-2',
        },
      ),
      unknown([{ ...charge, key: 'key-3' }]),
      skipped,
      unknown([{ call: 'wait:verdict#1', vendor: null, key: 'start-key' }]),
      ...[bulk, skipped, bulk, skipped, skipped],
    ]);
    expect(views[0]).toMatchObject({ state: 'needs_review', attempts: 0, finishedAt: clock.now });
    expect(views[3]).toMatchObject({ state: 'needs_review', attempts: 1, parked: null });
    expect(views[6]).toMatchObject({ state: 'succeeded' });
    expect((await reread(store, job)).outcomes).toMatchObject({ succeeded: 1, skipped: 5, needs_review: 6 });
    expect(await store.openIntents(job.no)).toEqual([]);
    expect(await store.endCancelled(job.no)).toEqual({ skipped: 0, unknown: 0 });
    expect(await store.finalize(job.no, 0)).toEqual({ state: 'cancelled' });
  });

  it('names what the vendor knows a wait by that nobody will ask about any more', async () => {
    const { store, clock } = world;
    const job = await submit(store, 5);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [0, 1, 2], { due: clock.now + 9 });
    await answerWaits(store, unit, [{ index: 1, answer: 1 }]);
    await store.journal([intent(job, unit, 2)]);
    expect(await store.endCancelled(job.no)).toEqual({ skipped: 4, unknown: 1 });
    const bodies = (await store.items(job, { after: -1, limit: 9 })).map((view) => view.body);
    expect(bodies.map((body) => [body?.reason, body?.remoteId])).toEqual([
      [CANCELLED, 'r0'],
      [CANCELLED, undefined],
      [UNKNOWN_CHARGE, 'r2'],
      [CANCELLED, undefined],
      [CANCELLED, undefined],
    ]);
    expect(await store.openWaitsOf(job.no, { after: -1, limit: 9 })).toEqual([]);
    expect(await store.due(job.no, [], 9)).toMatchObject({ nextDue: null });
  });

  it(
    'finds the calls of items and batches all over a large job',
    async () => {
      const { store, clock } = world;
      const job = await submit(store, 25_000);
      const unit = await openUnit(store, job, 1);
      const members = range(9_990, 10_010);
      await store.journal([
        intent(job, unit, 3, { subject: 'b:edge', members }),
        intent(job, unit, 24_999),
        intent(job, unit, 0),
      ]);
      await store.settle([flush(unit, { parked: [parked(9_999, clock.now, { history: attempted(2) })] })]);
      expect(await store.openIntents(job.no)).toEqual([0, 1, 9_990, 10_010, 24_999, 25_000]);
      expect(await store.endCancelled(job.no)).toEqual({ skipped: 25_000 - 22, unknown: 22 });
      expect(await store.item(job, 'item-9999')).toMatchObject({ state: 'needs_review', attempts: 2 });
      expect(await store.item(job, 'item-10009')).toMatchObject({ state: 'needs_review' });
      expect(await store.item(job, 'item-10010')).toMatchObject({ state: 'skipped' });
      expect(await store.openIntents(job.no)).toEqual([]);
      expect(await store.openItems(job.no, all(job), 'all')).toMatchObject({ open: [] });
    },
    LARGE_MS,
  );
}
