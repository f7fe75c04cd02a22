import { indexes, range } from '../../../model/index-set';
import { CLAIM_LIMIT } from '../../../model/pace';
import { OUTCOMES, type JobState, type Outcome } from '../../../model/states';
import {
  LARGE_MS,
  all,
  attempted,
  eachWithStore,
  endAll,
  ended,
  finishAll,
  flush,
  found,
  newItems,
  openUnit,
  parked,
  reread,
  runUnit,
  submit,
  sum,
  type Open,
} from './kit';

export function closingConformance(open: Open): void {
  describe('closing', () => {
    endingOpenItems(open);
    missingItems(open);
    statements(open);
    races(open);
  });
}

function endingOpenItems(open: Open): void {
  const world = eachWithStore(open);

  it(
    'ends the open ones of 25,000 items, leaves outcomes, and keeps the attempts of parked ones',
    async () => {
      const { store, clock } = world;
      const job = await submit(store, 25_000);
      await runUnit(store, job, 1, {
        settled: ended('succeeded', indexes(range(9_000, 11_000)), 2),
        parked: [9_998, 0, 12, 20_000, 24_999, 8_000].map((index) =>
          parked(index, clock.now + 1, { history: attempted(7) }),
        ),
      });
      const ending = clock.now + 5;
      clock.now = ending;
      expect(await store.endCancelled(job.no)).toEqual({ skipped: 23_000, unknown: 0 });
      expect(await store.counts(job)).toMatchObject({ succeeded: 2_000, skipped: 23_000, pending: 0, waiting: 0 });
      expect(await store.item(job, 'item-12')).toMatchObject({
        state: 'skipped',
        attempts: 7,
        body: { reason: 'cancelled' },
        finishedAt: ending,
      });
      expect(await store.item(job, 'item-13')).toMatchObject({ state: 'skipped', attempts: 0, parked: null });
      expect(await store.item(job, 'item-9998')).toMatchObject({ state: 'succeeded', attempts: 2 });
      expect(await store.due(job.no, [], 5)).toEqual({ due: found({}), more: false, nextDue: null });
      expect(await store.endCancelled(job.no)).toEqual({ skipped: 0, unknown: 0 });
      expect(await store.finalize(job.no, 0)).toEqual({ state: 'cancelled' });
      const { statement } = await reread(store, job);
      expect(statement).toMatchObject({ items: 25_000, attempts: 2 * 2_000 + 5 * 7 });
    },
    LARGE_MS,
  );

  it('does not touch another job', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 3), await submit(store, 3)];
    await store.endCancelled(job.no);
    expect(await store.counts(other)).toMatchObject({ pending: 3, skipped: 0 });
  });

  it('lets a unit in flight keep what it settled first, and settle nothing after', async () => {
    const { store } = world;
    const job = await submit(store, 4);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { settled: ended('succeeded', [0]) })]);
    expect(await store.endCancelled(job.no)).toEqual({ skipped: 3, unknown: 0 });
    expect(await store.settle([flush(unit, { settled: ended('succeeded', [0, 1]) })])).toEqual([true]);
    expect(await store.counts(job)).toMatchObject({ succeeded: 1, skipped: 3 });
  });
}

function missingItems(open: Open): void {
  const world = eachWithStore(open);

  it('hands back the items without an outcome, leaves out those parked for later, and counts the round', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const waits = [parked(2, clock.now + 40), parked(3, clock.now + 30), parked(5, clock.now)];
    await runUnit(store, job, 1, { settled: ended('succeeded', [0, 1, 7, 9]), parked: waits });
    const missing = { missing: [4, 7, 8, 9], nextDue: clock.now + 30 };
    expect(await store.finalize(job.no, 0)).toEqual(missing);
    expect(await reread(store, job)).toMatchObject({ state: 'running', finalizeRounds: 1, finishedAt: null });
    expect(await store.stuckJobs(10)).toEqual([]);
    expect(await store.finalize(job.no, 1)).toEqual(missing);
    const [stuck] = await store.stuckJobs(10);
    expect(stuck).toMatchObject({ job: { no: job.no }, missing: 6 });
    expect(stuck!.items).toEqual(['item-2', 'item-3', 'item-4', 'item-5', 'item-6', 'item-8']);
    expect(await store.stuckJobs(0)).toEqual([]);
    await finishAll(store, job, 'failed');
    expect(await store.stuckJobs(10)).toEqual([]);
    expect((await store.log(job.no, { after: 0, limit: 10 })).map((line) => line.level)).toContain('error');
  });

  it('says when the next item is due where all that is missing is parked', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2);
    await runUnit(store, job, 1, { settled: ended('succeeded', [0]), parked: [parked(1, clock.now + 9)] });
    expect(await store.finalize(job.no, 0)).toEqual({ missing: [], nextDue: clock.now + 9 });
  });

  it(
    'hands back missing items far into a large job, a bounded number at a time',
    async () => {
      const { store } = world;
      const job = await submit(store, 25_000);
      const missing = async (round: number): Promise<number[]> => {
        const found = await store.finalize(job.no, round);
        if ('state' in found) throw new Error('closed too early');
        return [...indexes(found.missing)];
      };
      const most = (await missing(0)).length;
      expect(most).toBeLessThanOrEqual(CLAIM_LIMIT);
      await runUnit(store, job, 1, { settled: ended('succeeded', indexes(range(0, 19_700))) });
      expect(await missing(1)).toEqual(newItems(most, 19_700).map((item) => item.index));
      await runUnit(store, job, 2, { settled: ended('succeeded', indexes(range(19_700, 25_000))) });
      expect(await store.finalize(job.no, 2)).toEqual({ state: 'succeeded' });
    },
    LARGE_MS,
  );
}

function statements(open: Open): void {
  const world = eachWithStore(open);

  it('closes with an account that adds up', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const unit = await openUnit(store, job, 1);
    await store.settle([
      flush(unit, {
        settled: [
          ...ended('succeeded', [0, 1, 2, 3], 1),
          ...ended('failed', [4, 5], 3),
          ...ended('needs_review', [6], 2),
        ],
        usage: [{ itemId: 'item-0', key: 'a', name: 'tokens', quantity: 1.5 }],
      }),
    ]);
    await store.settle([flush(unit, { settled: ended('skipped', [7, 8, 9], 0), running: 3 })]);
    clock.now += 77;
    expect(await store.finalize(job.no, 0)).toEqual({ state: 'cancelled' });
    const outcomes = { succeeded: 4, failed: 2, needs_review: 1, skipped: 3 };
    const statement = { items: 10, outcomes, attempts: 4 + 6 + 2, usage: { tokens: 1.5 } };
    const closed = await reread(store, job);
    expect(closed).toMatchObject({ state: 'cancelled', finishedAt: clock.now, outcomes, statement });
    expect(await store.unitWorkers(job.no)).toEqual([]);
    expect(sum(await store.counts(job))).toBe(10);
  });

  const cases: [JobState, Outcome[]][] = [
    ['succeeded', ['succeeded']],
    ['succeeded', ['needs_review']],
    ['succeeded', ['succeeded', 'needs_review']],
    ['failed', ['failed']],
    ['completed_with_errors', ['failed', 'succeeded']],
    ['completed_with_errors', ['failed', 'needs_review']],
    ['cancelled', ['skipped']],
    ['cancelled', [...OUTCOMES]],
  ];
  it.each(cases)('closes as %s where items ended as %j', async (state, outcomes) => {
    const { store } = world;
    const job = await submit(store, outcomes.length);
    await runUnit(store, job, 1, { settled: outcomes.flatMap((outcome, index) => ended(outcome, [index])) });
    expect(await store.finalize(job.no, 0)).toEqual({ state });
    expect(await reread(store, job)).toMatchObject({ state, paused: false });
  });

  it('closes a job that was cancelled too late to skip anything by the other rules', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    await runUnit(store, job, 1, { settled: ended('succeeded', [0, 1]) });
    await store.requestCancel(job.no, 'ann');
    expect(await store.finalize(job.no, 0)).toEqual({ state: 'succeeded' });
    expect(await reread(store, job)).toMatchObject({ cancel: { by: 'ann' } });
  });

  it('never changes a job that has closed', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2);
    await finishAll(store, job, 'failed');
    const closed = await reread(store, job);
    clock.now += 1_000;
    expect(await store.finalize(job.no, 3)).toEqual({ state: 'failed' });
    expect(await store.endCancelled(job.no)).toEqual({ skipped: 0, unknown: 0 });
    expect(await store.nextGeneration(job.no, 1)).toBe(false);
    await store.workflowStarted(job.no, 1);
    expect(await store.openItems(job.no, all(job), 'run')).toMatchObject({ open: [], nextDue: null });
    expect(await reread(store, job)).toEqual(closed);
  });
}

function races(open: Open): void {
  const world = eachWithStore(open);

  it('closes a job once when two finalize it at once', async () => {
    const { store } = world;
    const other = await world.reopen();
    const job = await submit(store, 50);
    await endAll(store, job, 'succeeded');
    const closed = await Promise.all([store, other, store, other].map((each) => each.finalize(job.no, 0)));
    expect(closed).toEqual(closed.map(() => ({ state: 'succeeded' })));
    const lines = await store.log(job.no, { after: 0, limit: 10 });
    expect(lines.filter((line) => line.message.startsWith('closed'))).toHaveLength(1);
  });

  it('ends each item once when two end them at once', async () => {
    const { store } = world;
    const other = await world.reopen();
    const job = await submit(store, 500);
    const [{ skipped }, failed] = await Promise.all([store.endCancelled(job.no), endAll(other, job, 'failed')]);
    expect(skipped + failed).toBe(500);
    expect(await store.counts(job)).toMatchObject({ skipped, failed, pending: 0 });
  });
}
