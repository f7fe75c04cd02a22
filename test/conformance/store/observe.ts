import {
  UNIT,
  eachWithStore,
  ended,
  fence,
  finishAll,
  flush,
  openUnit,
  parked,
  reread,
  submit,
  type Open,
} from './kit';

export function observeConformance(open: Open): void {
  describe('observing', () => {
    gauges(open);
    reasons(open);
    counters(open);
    glances(open);
  });
}

const NO_JOBS = {
  accepted: 0,
  expanding: 0,
  running: 0,
  paused: 0,
  cancelling: 0,
  succeeded: 0,
  completed_with_errors: 0,
  failed: 0,
  cancelled: 0,
};
const NO_ITEMS = {
  pending: 0,
  running: 0,
  waiting: 0,
  deferred: 0,
  succeeded: 0,
  failed: 0,
  needs_review: 0,
  skipped: 0,
};

function gauges(open: Open): void {
  const world = eachWithStore(open);

  it('shows an empty store as one', async () => {
    const nothing = { units: 0, stuckJobs: 0, silentSince: null, parked: [] };
    expect(await world.store.gauges()).toEqual({ jobs: NO_JOBS, items: NO_ITEMS, ...nothing });
  });

  it('counts all jobs, and the items of those that are open', async () => {
    const { store, clock } = world;
    await finishAll(store, await submit(store, 3), 'succeeded');
    await finishAll(store, await submit(store, 2), 'failed');
    const silentSince = clock.now;
    await submit(store, 5);
    clock.now += 1_000;
    const job = await submit(store, 10);
    const unit = await openUnit(store, job, 1);
    await openUnit(store, job, 2);
    const settled = [...ended('succeeded', [0]), ...ended('failed', [1])];
    await store.settle([flush(unit, { running: 4, settled, parked: [parked(2, clock.now + 60_000)] })]);
    expect(await store.gauges()).toEqual({
      jobs: { ...NO_JOBS, accepted: 1, running: 1, succeeded: 1, failed: 1 },
      items: { ...NO_ITEMS, pending: 5 + 3, running: 4, waiting: 1, succeeded: 1, failed: 1 },
      units: 2,
      stuckJobs: 0,
      silentSince,
      parked: [{ kind: 'retry', code: 'boom', count: 1 }],
    });
  });

  it('forgets a deleted job, and knows one that cannot be closed', async () => {
    const { store } = world;
    const gone = await submit(store, 1);
    await finishAll(store, gone, 'succeeded');
    await store.deleteJob(gone.no);
    const stuck = await submit(store, 1);
    await store.finalize(stuck.no, 0);
    expect((await store.gauges()).stuckJobs).toBe(0);
    await store.finalize(stuck.no, 1);
    expect(await store.gauges()).toMatchObject({ jobs: { ...NO_JOBS, accepted: 1 }, stuckJobs: 1 });
  });
}

function reasons(open: Open): void {
  const world = eachWithStore(open);
  const error = (code: string) => ({ code, message: 'it "broke"' });

  it('parts parked items by kind and code', async () => {
    const { store, clock } = world;
    const job = await submit(store, 10);
    const due = clock.now + 60_000;
    await store.settle([
      flush(await openUnit(store, job, 1), {
        parked: [
          parked(0, due, { error: error('boom') }),
          parked(1, due, { error: error('boom') }),
          parked(2, due, { error: error('net.reset') }),
          parked(3, due, { kind: 'defer', error: error('rate_limit') }),
          parked(4, due, { kind: 'wait', error: null }),
        ],
      }),
    ]);
    const { parked: found, items } = await store.gauges();
    expect(found).toEqual([
      { kind: 'retry', code: 'boom', count: 2 },
      { kind: 'retry', code: 'net.reset', count: 1 },
      { kind: 'defer', code: 'rate_limit', count: 1 },
      { kind: 'wait', code: '', count: 1 },
    ]);
    expect(items).toMatchObject({ waiting: 4, deferred: 1, pending: 5 });
  });

  it('keeps the codes of a kind few, however many payloads make up', async () => {
    const { store, clock } = world;
    const job = await submit(store, 100);
    const items = Array.from({ length: 100 }, (_, at) => parked(at, clock.now + 1, { error: error(`code_${at}`) }));
    await store.settle([flush(await openUnit(store, job, 1), { parked: items })]);
    const { parked: found } = await store.gauges();
    expect(found.length).toBeLessThanOrEqual(31);
    expect(found.find(({ code }) => code === 'other')).toMatchObject({ count: 70 });
  });

  it('estimates the parts of many from a sample, the sum being exact', async () => {
    const { store, clock } = world;
    const [large, small] = [await submit(store, 20_000), await submit(store, 2_000)];
    // A third is put off; the codes come in long runs.
    const of = (at: number) =>
      parked(at, clock.now + 1, {
        kind: at % 3 === 0 ? 'defer' : 'retry',
        error: error(at < 10_000 ? 'first' : 'second'),
      });
    for (const job of [large, small]) {
      const unit = await openUnit(store, job, 1);
      for (let lo = 0; lo < job.items; lo += 5_000) {
        const indexes = Array.from({ length: Math.min(5_000, job.items - lo) }, (_, at) => lo + at);
        await store.settle([flush(unit, { parked: indexes.map(of) })]);
      }
    }
    const { parked: found } = await store.gauges();
    const sum = (which: (part: (typeof found)[number]) => boolean): number =>
      found.filter(which).reduce((total, { count }) => total + count, 0);
    expect(sum(() => true)).toBe(22_000);
    const near = (count: number, wanted: number): void => {
      expect(Math.abs(count - wanted)).toBeLessThan(wanted / 5);
    };
    near(
      sum(({ kind }) => kind === 'defer'),
      22_000 / 3,
    );
    near(
      sum(({ code }) => code === 'first'),
      12_000,
    );
  });
}

function counters(open: Open): void {
  const world = eachWithStore(open);

  it('adds up what all processes count', async () => {
    const { store } = world;
    const other = await world.reopen();
    expect(await store.counters()).toEqual({});
    await Promise.all([store.count('a', 1), other.count('a', 2), store.count('b', 1)]);
    await other.count('a', 4);
    expect(await store.counters()).toEqual({ a: 7, b: 1 });
  });
}

function glances(open: Open): void {
  const world = eachWithStore(open);

  it('tells a job by another stamp when its units report, and when its row or its log is written', async () => {
    const { store, clock } = world;
    const job = await submit(store, 5);
    let stamp = (await store.glance([job.no]))[0]!.stamp;
    const moves = async (what: () => Promise<unknown>): Promise<void> => {
      clock.now += 1;
      await what();
      const next = (await store.glance([job.no]))[0]!.stamp;
      expect(next).not.toBe(stamp);
      stamp = next;
    };
    const unit = fence(job, 1);
    await moves(() => store.workflowStarted(job.no, 1));
    await moves(() => store.openUnit(unit, UNIT));
    await moves(() => store.settle([flush(unit, { running: 2 })]));
    await moves(() => store.settle([flush(unit, { settled: ended('succeeded', [0]) })]));
    await moves(() => store.settle([flush(unit, { parked: [parked(1, clock.now + 1)] })]));
    await moves(() => store.appendLog(job.no, { level: 'info', source: 'runner', message: 'a line' }));
    await moves(() => store.pause(job.no));
    await moves(() => store.resume(job.no));
    await moves(() => store.requestCancel(job.no, 'ann'));
    await moves(() => store.endCancelled(job.no));
    await moves(() => store.finalize(job.no, 0));
    clock.now += 1;
    expect((await store.glance([job.no]))[0]!.stamp).toBe(stamp);
  });

  it('knows the state and the newest line of each job, and leaves out those that are gone', async () => {
    const { store } = world;
    const [a, b] = [await submit(store, 1), await submit(store, 1)];
    await store.appendLog(a.no, { level: 'info', source: 'runner', message: 'of a' });
    await finishAll(store, b, 'succeeded');
    const lines = async (no: number) => (await store.log(no, { after: 0, limit: 100 })).map((line) => line.no);
    const found = await store.glance([b.no, a.no, 9_999]);
    expect(found.sort((x, y) => x.no - y.no)).toEqual([
      { no: a.no, state: 'accepted', stamp: expect.any(String), newestLine: (await lines(a.no)).at(-1) },
      { no: b.no, state: 'succeeded', stamp: expect.any(String), newestLine: (await lines(b.no)).at(-1) },
    ]);
    expect((await reread(store, b)).state).toBe('succeeded');
    expect(await store.glance([])).toEqual([]);
  });
}
