import type { JobRecord, WorkerRow } from '../../../store';
import { UNIT, all, eachWithStore, fence, finishAll, flush, openUnit, submit, type Open } from './kit';

export function fleetConformance(open: Open): void {
  describe('the fleet', () => {
    workers(open);
    leases(open);
    sweep(open);
  });
}

function workers(open: Open): void {
  const world = eachWithStore(open);
  const worker = (id: string, more: Partial<WorkerRow> = {}): Omit<WorkerRow, 'beatAt'> => ({
    id,
    pool: 'default',
    capabilities: ['text.upper@1'],
    ceilings: { vendor: 5 },
    memoryMb: 512,
    loopDelayMs: 3,
    startedAt: 1,
    ...more,
  });

  it('knows a worker by what its last beat said', async () => {
    const { store, clock } = world;
    await store.beat(worker('w1'));
    clock.now += 2_000;
    const changed = worker('w1', { ceilings: {}, capabilities: ['text.upper@1', 'b@2'], memoryMb: 700, pool: 'gpu' });
    await store.beat(changed);
    expect(await store.workers(0)).toEqual([{ ...changed, beatAt: clock.now }]);
  });

  it('tells the workers that beat since a time, and forgets one that retires', async () => {
    const { store, clock } = world;
    const other = await world.reopen();
    await store.beat(worker('w1'));
    clock.now += 1_000;
    await other.beat(worker('w2', { startedAt: 2 }));
    const ids = async (since: number) => (await store.workers(since)).map((row) => row.id);
    expect(await ids(clock.now - 1_000)).toEqual(['w1', 'w2']);
    expect(await ids(clock.now - 999)).toEqual(['w2']);
    expect(await ids(clock.now + 1)).toEqual([]);
    await other.retire('w1');
    await other.retire('w1');
    expect(await ids(0)).toEqual(['w2']);
  });

  it('forgets workers that were silent for long when another one beats', async () => {
    const { store, clock } = world;
    for (let i = 0; i < 5; i++) await store.beat(worker(`dead-${i}`));
    clock.now += 24 * 3_600_000;
    await store.beat(worker('alive'));
    expect((await store.workers(0)).map((row) => row.id)).toEqual(['alive']);
  });

  it('tells the workers that have a unit of a job open, each once', async () => {
    const { store } = world;
    const [job, other] = [await submit(store, 3), await submit(store, 3)];
    const on = (worker: string) => ({ ...UNIT, worker });
    expect(await store.unitWorkers(job.no)).toEqual([]);
    await store.openUnit(fence(job, 1), on('w1'));
    await store.openUnit(fence(job, 2), on('w2'));
    await store.openUnit(fence(job, 3), on('w2'));
    await store.openUnit(fence(other, 1), on('w3'));
    expect((await store.unitWorkers(job.no)).sort()).toEqual(['w1', 'w2']);
    await store.settle([flush(fence(job, 1), { close: true })]);
    await store.openUnit(fence(job, 2, { delivery: 'second' }), on('w4'));
    expect((await store.unitWorkers(job.no)).sort()).toEqual(['w2', 'w4']);
  });
}

function leases(open: Open): void {
  const world = eachWithStore(open);

  it('gives a lease to one holder until it runs out, who may prolong it', async () => {
    const { store, clock } = world;
    const other = await world.reopen();
    expect(await store.lease('sweep', 'a', 30_000)).toBe(true);
    expect(await other.lease('sweep', 'b', 30_000)).toBe(false);
    expect(await other.lease('another', 'b', 30_000)).toBe(true);
    clock.now += 20_000;
    expect(await store.lease('sweep', 'a', 30_000)).toBe(true);
    clock.now += 29_000;
    expect(await other.lease('sweep', 'b', 30_000)).toBe(false);
    clock.now += 1_001;
    expect(await other.lease('sweep', 'b', 30_000)).toBe(true);
    expect(await store.lease('sweep', 'a', 30_000)).toBe(false);
  });

  it('gives a free lease to one of many who ask at once', async () => {
    const stores = [world.store, await world.reopen()];
    const asked = Array.from({ length: 12 }, (_, i) => stores[i % 2]!.lease('sweep', `holder-${i}`, 1_000));
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
  });
}

function sweep(open: Open): void {
  const world = eachWithStore(open);
  const ids = (jobs: readonly JobRecord[]): string[] => jobs.map((job) => job.id);

  it('tells sealed jobs whose workflow was not started for a while', async () => {
    const { store, clock } = world;
    const [lost, started, ended] = [await submit(store, 1), await submit(store, 1), await submit(store, 1)];
    await store.workflowStarted(started.no, 1);
    await finishAll(store, ended, 'failed');
    expect(await store.unstarted(clock.now, 10)).toEqual([]);
    clock.now += 1_000;
    expect(await store.unstarted(clock.now, 10)).toEqual([lost]);
    expect(await store.unstarted(clock.now, 0)).toEqual([]);
    await store.nextGeneration(started.no, 1);
    clock.now += 1_000;
    expect(new Set(ids(await store.unstarted(clock.now, 10)))).toEqual(new Set([lost.id, started.id]));
    await store.workflowStarted(lost.no, 1);
    expect(ids(await store.unstarted(clock.now, 10))).toEqual([started.id]);
  });

  it('tells open jobs that are silent, those first that were silent longest', async () => {
    const { store, clock } = world;
    const jobs: JobRecord[] = [];
    for (let i = 0; i < 4; i++) {
      const job = await submit(store, 2);
      await store.workflowStarted(job.no, 1);
      clock.now += 1_000;
      jobs.push(job);
    }
    const [a, b, c, d] = jobs.map((job) => job.id);
    expect(ids(await store.silent(clock.now, 10))).toEqual([a, b, c, d]);
    expect(ids(await store.silent(clock.now, 2))).toEqual([a, b]);
    expect(ids(await store.silent(clock.now - 3_000, 10))).toEqual([a]);
    await store.touch(jobs[0]!.no);
    const unit = await openUnit(store, jobs[1]!, 1);
    clock.now += 1_000;
    const silent = ids(await store.silent(clock.now, 10));
    expect([silent.slice(0, 2), new Set(silent.slice(2))]).toEqual([[c, d], new Set([a, b])]);
    await store.settle([flush(unit, { running: 1 })]);
    expect(ids(await store.silent(clock.now, 10))).toEqual([c, d, a]);
    await finishAll(store, jobs[2]!, 'failed');
    expect(ids(await store.silent(clock.now, 10))).toEqual([d, a]);
  });

  it('hears a job in whatever its unit does: opens, settles, asks to finalize', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2);
    await store.workflowStarted(job.no, 1);
    const heard = async (what: () => Promise<unknown>): Promise<void> => {
      clock.now += 1_000;
      expect(ids(await store.silent(clock.now, 10))).toEqual([job.id]);
      await what();
      expect(ids(await store.silent(clock.now, 10))).toEqual([]);
    };
    await heard(() => store.openUnit(fence(job, 1), UNIT));
    await heard(() => store.settle([flush(fence(job, 1))]));
    await heard(() => store.finalize(job.no, 0));
    await heard(() => store.pause(job.no));
    // A job that is being cancelled is looked at by every sweep, however much is heard of it.
    await store.requestCancel(job.no, 'ann');
    expect(ids(await store.silent(clock.now, 10))).toEqual([job.id]);
    expect((await store.openItems(job.no, all(job), 'run')).open).toHaveLength(2);
  });
}
