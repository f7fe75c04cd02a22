import { FRESH } from '../../../model/attempts';
import { range } from '../../../model/index-set';
import type { CheckedWaits, OpenWait } from '../../../store';
import {
  all,
  answerWaits,
  attempted,
  eachWithStore,
  ended,
  flush,
  found,
  openUnit,
  parked,
  resultOf,
  start,
  startWaits,
  submit,
  type Open,
} from './kit';

export function waitsConformance(open: Open): void {
  describe('waits', () => {
    starting(open);
    checking(open);
  });
}

const wait = (index: number, since: number, more: Partial<OpenWait> = {}): OpenWait => ({
  ...{ index, wait: 'verdict', remoteId: `r${index}`, since, checks: 0, errors: 0, history: attempted(1) },
  ...more,
});
const pending = (set: readonly number[], due: number, failed = false): CheckedWaits => ({
  pending: [{ set, due, failed }],
  answered: [],
});
const page = { after: -1, limit: 100 };

function starting(open: Open): void {
  const world = eachWithStore(open);

  it('is known to the vendor from the result of its start on, and due when it was parked until', async () => {
    const { store, clock } = world;
    const job = await submit(store, 4);
    const unit = await openUnit(store, job, 1);
    const since = clock.now;
    await store.journal([start(job, unit, 1)]);
    expect(await store.openWaitsOf(job.no, page)).toEqual([]);
    expect(await store.item(job, 'item-1')).toMatchObject({
      ...{ state: 'pending', parked: null, wait: { name: 'verdict', remoteId: null, since } },
    });
    clock.now += 10;
    await store.journal([resultOf(start(job, unit, 1), 'r1')]);
    expect(await store.openWaitsOf(job.no, page)).toEqual([wait(1, since, { history: FRESH })]);
    const due = clock.now + 500;
    const history = { attempts: 2, deferrals: 1, deferredSince: null, returns: 1 };
    await store.settle([flush(unit, { parked: [parked(1, due, { kind: 'wait', error: null, history })] })]);
    expect(await store.openWaits(job.no, all(job))).toEqual({ waits: [], nextDue: due });
    clock.now = due;
    expect(await store.openWaits(job.no, all(job))).toEqual({ waits: [wait(1, since, { history })], nextDue: null });
    expect(await store.openWaits(job.no, [0, 1, 2, 4])).toEqual({ waits: [], nextDue: null });
    expect(await store.item(job, 'item-1')).toMatchObject({
      ...{ state: 'waiting', attempts: 2, parked: { kind: 'wait', due, error: null } },
      wait: { name: 'verdict', remoteId: 'r1', since },
    });
    expect(await store.counts(job)).toMatchObject({ waiting: 1, deferred: 0, pending: 3 });
  });

  it('keeps its time when its start is found known, renewed, or stored a second time', async () => {
    const { store, clock } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    const since = clock.now;
    const again = [{}, { token: 'other' }, { token: 'third', renew: true }];
    await store.journal([start(job, unit, 0)]);
    for (const more of again) {
      clock.now += 100;
      await store.journal([start(job, unit, 0, more)]);
    }
    await store.journal([resultOf(start(job, unit, 0), 'r0')]);
    clock.now += 100;
    expect(await store.journal([start(job, unit, 0, { token: 'fourth' })])).toMatchObject([{ is: 'known' }]);
    expect(await store.openWaitsOf(job.no, page)).toEqual([wait(0, since, { history: FRESH })]);
  });

  it('is gone when its start is withdrawn, and another wait may be started in its place', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2);
    const unit = await openUnit(store, job, 1);
    const write = start(job, unit, 0);
    const { rootNo, subject, call, token } = write;
    await store.journal([write, { type: 'withdrawn', rootNo, subject, call, token }]);
    expect(await store.item(job, 'item-0')).toMatchObject({ wait: null });
    await store.journal([start(job, unit, 0)]);
    clock.now += 5;
    const other = start(job, unit, 0, { name: 'review', token: 'other' });
    expect(await store.journal([other, resultOf(other, 'rr')])).toEqual([{ is: 'stored' }, { is: 'stored' }]);
    // The late answer to the one that was given up does not name the one in its place.
    await store.journal([resultOf(write, 'r0')]);
    expect(await store.item(job, 'item-0')).toMatchObject({
      wait: { name: 'review', remoteId: 'rr', since: clock.now },
    });
    expect(await store.openWaitsOf(job.no, page)).toHaveLength(1);
  });

  it('is not started for an item that has ended', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { settled: ended('failed', [0]) })]);
    await store.journal([start(job, unit, 0), resultOf(start(job, unit, 0), 'r0')]);
    expect(await store.openWaitsOf(job.no, page)).toEqual([]);
    expect(await store.item(job, 'item-0')).toMatchObject({ wait: null });
  });

  it('pages through the waits of a job that a vendor knows of', async () => {
    const { store, clock } = world;
    const [job, other] = [await submit(store, 9), await submit(store, 9)];
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [7, 1, 4, 5], { due: clock.now });
    await startWaits(store, other, await openUnit(store, other, 1), [2], { due: clock.now });
    await store.journal([start(job, unit, 8)]);
    await answerWaits(store, unit, [{ index: 4, answer: 1 }]);
    const of = async (after: number, limit: number) =>
      (await store.openWaitsOf(job.no, { after, limit })).map((one) => one.index);
    expect([await of(-1, 2), await of(5, 2), await of(7, 2)]).toEqual([[1, 5], [7], []]);
    expect(await store.openWaitsOf(99_999, page)).toEqual([]);
  });
}

function checking(open: Open): void {
  const world = eachWithStore(open);

  it('counts checks that found it pending, and failed ones in a row', async () => {
    const { store, clock } = world;
    const job = await submit(store, 4);
    const unit = await openUnit(store, job, 1);
    const since = clock.now;
    await startWaits(store, job, unit, [0, 1, 2], { due: since });
    const check = async (checked: CheckedWaits) => {
      expect(await store.settle([flush(unit, { checked })])).toEqual([true]);
      return (await store.openWaits(job.no, all(job))).waits;
    };
    expect(await check(pending([0, 2], since))).toEqual([
      ...[wait(0, since, { checks: 1 }), wait(1, since, { checks: 1 }), wait(2, since)],
    ]);
    const failed = [{ set: [0, 1], due: since, failed: true }, pending([1, 2], since).pending[0]!];
    await check({ pending: failed, answered: [] });
    expect(await check({ pending: failed, answered: [] })).toEqual([
      ...[wait(0, since, { checks: 1, errors: 2 }), wait(1, since, { checks: 3 }), wait(2, since)],
    ]);
    expect(await check(pending([0, 1], since))).toContainEqual(wait(0, since, { checks: 2 }));
    clock.now += 50;
    await check(pending([0, 1, 2, 3], since + 60));
    expect(await store.openWaits(job.no, all(job))).toMatchObject({ waits: [{ index: 1 }], nextDue: since + 60 });
  });

  it('moves nothing but waits', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { parked: [parked(0, clock.now), parked(1, clock.now, { kind: 'defer' })] })]);
    await store.settle([flush(unit, { checked: pending([0, 3], 9e15) })]);
    await answerWaits(store, unit, [{ index: 0, answer: 1 }]);
    expect(await store.due(job.no, [], 9)).toMatchObject({ due: found({ run: [0, 2] }), nextDue: null });
    expect((await store.inputs(job.no, all(job))).map((item) => item.resume)).toEqual([null, null, null]);
    expect(await store.item(job, 'item-0')).toMatchObject({ parked: { kind: 'retry' } });
  });

  it('belongs in the check lane while it is due, whoever meets it', async () => {
    const { store, clock } = world;
    const job = await submit(store, 5);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [1, 2], { due: clock.now });
    await startWaits(store, job, unit, [3], { due: clock.now + 40 });
    for (const lane of ['run', 'quarantine'] as const) {
      const { open: items, elsewhere, nextDue } = await store.openItems(job.no, all(job), lane);
      expect(items.map((item) => item.index)).toEqual([0, 4]);
      expect(elsewhere).toEqual({ check: [1, 3], quarantine: [] });
      expect(nextDue).toBe(clock.now + 40);
    }
    const whatever = await store.openItems(job.no, all(job), 'all');
    expect(whatever.open.map((item) => item.index)).toEqual([0, 1, 2, 3, 4]);
    expect(whatever).toMatchObject({ elsewhere: { check: [], quarantine: [] }, nextDue: null });
    expect(await store.due(job.no, [], 9)).toEqual({
      ...{ due: found({ check: [1, 3] }), more: false, nextDue: clock.now + 40 },
    });
    expect(await store.recover(job.no, 1, 1, range(1, 4))).toEqual({
      ...{ open: found({ check: [1, 3] }), nextDue: clock.now + 40 },
    });
  });
}
