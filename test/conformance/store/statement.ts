import { range } from '../../../model/index-set';
import {
  eachWithStore,
  ended,
  endAll,
  flush,
  intent,
  openUnit,
  parked,
  reread,
  resultOf,
  runUnit,
  startWaits,
  submit,
  type Open,
} from './kit';

/** The account that a job closes with. */
export function statementConformance(open: Open): void {
  describe('the statement', () => {
    counts(open);
    phases(open);
  });
}

function counts(open: Open): void {
  const world = eachWithStore(open);

  it('counts deferrals, and not other parkings', async () => {
    const { store, clock } = world;
    const job = await submit(store, 4);
    const put = (index: number, kind: 'defer' | 'retry') => parked(index, clock.now, { kind });
    await runUnit(store, job, 1, { parked: [put(0, 'defer'), put(1, 'defer'), put(2, 'retry')] });
    await runUnit(store, job, 2, { parked: [put(0, 'defer')] });
    await endAll(store, job, 'succeeded');
    await store.finalize(job.no, 0);
    expect((await reread(store, job)).statement).toMatchObject({ deferrals: 3, recoveries: 0, waits: 0 });
  });

  it('counts deliveries that died once each, be it alone or with their generation', async () => {
    const { store } = world;
    const job = await submit(store, 4);
    await openUnit(store, job, 1);
    await openUnit(store, job, 2);
    await runUnit(store, job, 3, {});
    for (const seq of [1, 1, 3, 7]) await store.recover(job.no, 1, seq, range(0, 1));
    expect(await store.nextGeneration(job.no, 1)).toBe(true);
    expect(await store.nextGeneration(job.no, 1)).toBe(false);
    await endAll(store, job, 'succeeded');
    await store.finalize(job.no, 0);
    expect((await reread(store, job)).statement).toMatchObject({ recoveries: 2 });
  });

  it('counts calls as often as they are sent, effects never, and says which have no answer', async () => {
    const { store } = world;
    const job = await submit(store, 4);
    const unit = await openUnit(store, job, 1);
    const call = (index: number, more = {}) => intent(job, unit, index, more);
    await store.journal([call(0), call(1), call(2, { kind: 'once' })]);
    await store.journal([call(0), resultOf(call(0), 1)]);
    await store.journal([call(1, { renew: true, token: 'another' })]);
    await startWaits(store, job, unit, [3], { due: 0 });
    await endAll(store, job, 'succeeded');
    await store.finalize(job.no, 0);
    const { statement } = await reread(store, job);
    expect(statement).toMatchObject({ waits: 1, vendorCalls: { made: 4, unanswered: 1 } });
  });
}

function phases(open: Open): void {
  const world = eachWithStore(open);

  it('says where the time went, and the parts add up to it', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2);
    const pass = (ms: number): void => void (clock.now += ms);
    pass(10);
    await store.workflowStarted(job.no, 1);
    pass(20);
    const unit = await openUnit(store, job, 1);
    pass(400);
    await store.pause(job.no);
    pass(1_000);
    await store.resume(job.no);
    pass(70);
    await store.settle([flush(unit, { settled: ended('succeeded', [0]), close: true })]);
    await store.pause(job.no);
    pass(2_000);
    await store.requestCancel(job.no, 'ann');
    pass(5);
    await store.endCancelled(job.no);
    await store.finalize(job.no, 0);
    const closed = await reread(store, job);
    const expected = { queuedMs: 30, runningMs: 470, pausedMs: 3_000, cancellingMs: 5 };
    expect(closed.statement?.phases).toEqual(expected);
    const sum = Object.values(expected).reduce((total, ms) => total + ms, 0);
    expect(closed.finishedAt! - closed.createdAt).toBe(sum);
  });

  it('counts a job that never started as queued, and one that was paused before that as paused', async () => {
    const { store, clock } = world;
    const [job, other] = [await submit(store, 1), await submit(store, 1)];
    await store.pause(other.no);
    clock.now += 50;
    for (const { no } of [job, other]) {
      await store.requestCancel(no, 'ann');
      await store.endCancelled(no);
      await store.finalize(no, 0);
    }
    const none = { queuedMs: 0, runningMs: 0, pausedMs: 0, cancellingMs: 0 };
    expect((await reread(store, job)).statement?.phases).toEqual({ ...none, queuedMs: 50 });
    expect((await reread(store, other)).statement?.phases).toEqual({ ...none, pausedMs: 50 });
  });

  it('survives a clock that is set back', async () => {
    const { store, clock } = world;
    const job = await submit(store, 1);
    clock.now += 100;
    await openUnit(store, job, 1);
    clock.now -= 60;
    await store.pause(job.no);
    clock.now += 100;
    await endAll(store, job, 'succeeded');
    await store.finalize(job.no, 0);
    const { phases: parts } = (await reread(store, job)).statement!;
    expect(Object.values(parts).every((ms) => ms >= 0)).toBe(true);
    expect(parts).toMatchObject({ queuedMs: 100 });
  });
}
