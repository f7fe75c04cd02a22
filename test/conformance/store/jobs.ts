import type { Outcome } from '../../../model/states';
import type { JobRecord, LogPage, Store } from '../../../store';
import {
  all,
  eachWithStore,
  endAll,
  ended,
  finishAll,
  flush,
  linesOf,
  newItems,
  openUnit,
  parked,
  reread,
  runUnit,
  submit,
  sum,
  type Open,
} from './kit';

export function jobsConformance(open: Open): void {
  describe('jobs', () => {
    listing(open);
    counting(open);
    itemViews(open);
    log(open);
  });
}

function listing(open: Open): void {
  const world = eachWithStore(open);
  const ids = (jobs: readonly JobRecord[]): string[] => jobs.map((job) => job.id);

  it('lists the newest first, and goes on from a cursor without a gap or a repetition', async () => {
    const { store } = world;
    const made: string[] = [];
    for (let i = 0; i < 7; i++) made.unshift((await submit(store, 1)).id);
    const seen: string[] = [];
    let page = await store.jobs({ tenant: 'acme', limit: 3 });
    await submit(store, 1);
    while (page.length > 0) {
      seen.push(...ids(page));
      page = await store.jobs({ tenant: 'acme', limit: 3, before: page.at(-1)!.no });
    }
    expect(seen).toEqual(made);
  });

  it('filters by state, capability and label, alone and together', async () => {
    const { store } = world;
    const red = await submit(store, 1, { capability: 'a@1', labels: { colour: 'red', size: 'L' } });
    const blue = await submit(store, 1, { capability: 'a@1', labels: { colour: 'blue' } });
    const other = await submit(store, 1, { capability: 'a@2', labels: { size: 'red' } });
    await finishAll(store, blue, 'succeeded');
    const list = async (filter: object) => ids(await store.jobs({ tenant: 'acme', limit: 10, ...filter }));
    expect(await list({ state: 'succeeded' })).toEqual([blue.id]);
    expect(await list({ state: 'accepted' })).toEqual([other.id, red.id]);
    expect(await list({ capability: 'a@1' })).toEqual([blue.id, red.id]);
    expect(await list({ label: { key: 'colour', value: 'red' } })).toEqual([red.id]);
    expect(await list({ label: { key: 'size', value: 'red' } })).toEqual([other.id]);
    expect(await list({ capability: 'a@1', state: 'accepted', label: { key: 'size', value: 'L' } })).toEqual([red.id]);
    expect(await list({ capability: 'a@2', label: { key: 'size', value: 'L' } })).toEqual([]);
    expect(await list({ capability: 'a' })).toEqual([]);
  });

  it('never shows a job to another tenant', async () => {
    const { store } = world;
    const ours = await submit(store, 1, { labels: { x: 'y' } });
    const theirs = await submit(store, 1, { tenant: 'Acme', labels: { x: 'y' } });
    const label = { key: 'x', value: 'y' };
    expect(ids(await store.jobs({ tenant: 'acme', limit: 10, label }))).toEqual([ours.id]);
    expect(ids(await store.jobs({ tenant: 'Acme', limit: 10, before: theirs.no + 1 }))).toEqual([theirs.id]);
    expect(await store.job(ours.id, 'Acme')).toBeUndefined();
    expect(await store.job(theirs.id, 'acme')).toBeUndefined();
    expect(await store.job(theirs.id, 'Acme')).toEqual(theirs);
  });
}

function counting(open: Open): void {
  const world = eachWithStore(open);
  const counted = async (store: Store, job: JobRecord) => {
    const counts = await store.counts(job);
    expect(sum(counts)).toBe(job.items);
    return counts;
  };
  const none = {
    pending: 0,
    running: 0,
    waiting: 0,
    deferred: 0,
    succeeded: 0,
    failed: 0,
    needs_review: 0,
    skipped: 0,
  };

  it('counts every item once at every stage of a job', async () => {
    const { store } = world;
    const job = await submit(store, 20);
    expect(await counted(store, job)).toEqual({ ...none, pending: 20 });
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { running: 5 })]);
    expect(await counted(store, job)).toEqual({ ...none, pending: 15, running: 5 });
    const waits = [parked(4, 9e15), parked(5, 9e15), parked(6, 9e15, { kind: 'defer' })];
    await store.settle([flush(unit, { settled: ended('succeeded', [0, 1]), parked: waits, running: 3 })]);
    expect(await counted(store, job)).toEqual({
      ...none,
      pending: 12,
      running: 3,
      waiting: 2,
      deferred: 1,
      succeeded: 2,
    });
    await store.settle([flush(unit, { settled: ended('failed', [2, 3, 4]), close: true })]);
    expect(await counted(store, job)).toEqual({
      ...none,
      pending: 13,
      waiting: 1,
      deferred: 1,
      succeeded: 2,
      failed: 3,
    });
    await store.requestCancel(job.no, 'ann');
    await endAll(store, job, 'skipped');
    expect(await counted(store, job)).toEqual({ ...none, succeeded: 2, failed: 3, skipped: 15 });
    await store.finalize(job.no, 0);
    expect(await counted(store, job)).toEqual({ ...none, succeeded: 2, failed: 3, skipped: 15 });
  });

  it('keeps the sum right while units say that they run more than is open', async () => {
    const { store } = world;
    const job = await submit(store, 10);
    const unit = await openUnit(store, job, 1);
    const rest = [...newItems(8, 2)].map((item) =>
      parked(item.index, 9e15, { kind: item.index < 6 ? 'defer' : 'retry' }),
    );
    await store.settle([flush(unit, { settled: ended('succeeded', [0]), parked: rest, running: 50 })]);
    expect(await counted(store, job)).toEqual({ ...none, running: 1, waiting: 4, deferred: 4, succeeded: 1 });
  });

  it('does not take what a lost unit was running for running', async () => {
    const { store } = world;
    const job = await submit(store, 10);
    const unit = await openUnit(store, job, 1);
    await store.settle([flush(unit, { running: 7 })]);
    await store.recover(job.no, 1, 1, all(job));
    // They wait for another attempt: that they were lost is noted with them.
    expect(await counted(store, job)).toEqual({ ...none, waiting: 10 });
  });
}

function itemViews(open: Open): void {
  const world = eachWithStore(open);

  it('shows an item as what it is: pending, waiting, deferred or ended', async () => {
    const { store, clock } = world;
    const job = await submit(store, 4);
    const error = { code: 'boom', message: 'a\0b \uD800 😀', stack: 'at x', causes: ['y'] };
    const body = { result: { nul: 'a\0b', lone: '\uDC00', deep: [{ n: 1.5 }, null] } };
    const history = { attempts: 2, deferrals: 3, deferredSince: 7, returns: 0 };
    await runUnit(store, job, 1, {
      settled: [{ index: 1, outcome: 'needs_review', attempts: 2, body }],
      parked: [parked(2, clock.now + 5_000, { error, history }), parked(3, clock.now + 9_000, { kind: 'defer' })],
    });
    const [first, second, third, fourth] = await store.items(job, { after: -1, limit: 10 });
    expect(first).toEqual({
      ...{ index: 0, id: 'item-0', state: 'pending', attempts: 0, body: null, finishedAt: null },
      ...{ parked: null, wait: null, progress: null },
    });
    expect(second).toMatchObject({ state: 'needs_review', attempts: 2, finishedAt: clock.now, parked: null });
    expect(second?.body).toEqual(body);
    const due = clock.now + 5_000;
    expect(third).toMatchObject({
      state: 'waiting',
      attempts: 2,
      body: null,
      parked: { kind: 'retry', due, deferrals: 3, error },
    });
    expect(fourth).toMatchObject({ state: 'deferred', attempts: 1, parked: { due: clock.now + 9_000 } });
    expect(await store.item(job, 'item-2')).toEqual(third);
    expect(await store.item(job, 'item-9')).toBeUndefined();
  });

  it('pages through items by index, all of them or those with an outcome', async () => {
    const { store } = world;
    const job = await submit(store, 30);
    const of = (remainder: number) => newItems(30).flatMap(({ index }) => (index % 3 === remainder ? [index] : []));
    await runUnit(store, job, 1, { settled: [...ended('succeeded', of(0)), ...ended('failed', of(1))] });
    const paged = async (outcome?: Outcome): Promise<number[]> => {
      const seen: number[] = [];
      const next = () => store.items(job, { after: seen.at(-1) ?? -1, limit: 4, ...(outcome && { outcome }) });
      for (let page = await next(); page.length > 0; page = await next()) seen.push(...page.map((item) => item.index));
      return seen;
    };
    expect(await paged()).toEqual(newItems(30).map((item) => item.index));
    expect(await paged('succeeded')).toEqual(of(0));
    expect(await paged('failed')).toEqual(of(1));
    expect(await paged('skipped')).toEqual([]);
  });

  it('does not show items of another job', async () => {
    const { store } = world;
    const [one, two] = [await submit(store, 2), await submit(store, 3)];
    await runUnit(store, two, 1, { settled: ended('failed', [0, 1, 2]) });
    expect(await store.items(one, { after: -1, limit: 10 })).toHaveLength(2);
    expect(await store.items(one, { outcome: 'failed', after: -1, limit: 10 })).toEqual([]);
    expect(await store.item(one, 'item-2')).toBeUndefined();
  });
}

function log(open: Open): void {
  const world = eachWithStore(open);

  it('pages through a log in the order of writing', async () => {
    const { store, clock } = world;
    const [job, other] = [await submit(store, 1), await submit(store, 1)];
    for (let i = 0; i < 7; i++) {
      clock.now += 1;
      await store.appendLog(job.no, { level: 'warn', source: 'runner', message: `line ${i}`, itemId: `item-${i}` });
      await store.appendLog(other.no, { level: 'info', source: 'payload', message: 'elsewhere' });
    }
    const [accepted] = await store.log(job.no, { after: 0, limit: 1 });
    expect(accepted).toMatchObject({ state: 'accepted', message: 'accepted with 1 items', source: 'runner' });
    const first = await store.log(job.no, { after: accepted!.no, limit: 4 });
    const rest = await store.log(job.no, { after: first.at(-1)!.no, limit: 10 });
    expect([...first, ...rest].map((line) => line.message)).toEqual([0, 1, 2, 3, 4, 5, 6].map((i) => `line ${i}`));
    expect(rest.at(-1)).toMatchObject({ at: clock.now, level: 'warn', source: 'runner', itemId: 'item-6' });
    expect(await store.log(job.no, { after: rest.at(-1)!.no, limit: 10 })).toEqual([]);
    expect((await linesOf(store, other))[0]?.itemId).toBeNull();
  });

  it('gives of a log only lines of a level, of a speaker, or with a change of state, page by page', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    for (let i = 0; i < 3; i++) {
      await store.appendLog(job.no, { level: 'info', source: 'payload', message: `said ${i}` });
      await store.appendLog(job.no, { level: 'warn', source: 'runner', message: `warned ${i}` });
      await store.appendLog(job.no, { level: 'warn', source: 'payload', message: `feared ${i}` });
    }
    await store.pause(job.no);
    const texts = async (filter: Partial<LogPage>): Promise<string[]> =>
      (await store.log(job.no, { after: 0, limit: 100, ...filter })).map((line) => line.message);
    expect(await texts({ source: 'payload', level: 'info' })).toEqual(['said 0', 'said 1', 'said 2']);
    expect(await texts({ source: 'runner', level: 'warn' })).toEqual(['warned 0', 'warned 1', 'warned 2']);
    expect(await texts({ states: true })).toEqual(['accepted with 1 items', 'pause requested']);
    const [first] = await store.log(job.no, { after: 0, limit: 1, states: true });
    expect(await texts({ after: first!.no, limit: 1, states: true })).toEqual(['pause requested']);
    expect(await texts({ limit: 2, level: 'warn' })).toEqual(['warned 0', 'feared 0']);
  });

  it('writes a log line that a person can read, whatever it was given', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    const message = `a\0b \uD800 😀 ${'long '.repeat(100_000)}`;
    await store.appendLog(job.no, { level: 'error', source: 'payload', message });
    const [line] = await linesOf(store, job);
    expect(line?.message).toMatch(/^a\uFFFDb \uFFFD 😀 long /);
    expect(line?.message.length).toBeLessThan(10_000);
  });

  it('writes pause, resume and cancel into the log once each', async () => {
    const { store } = world;
    const job = await submit(store, 1);
    for (let i = 0; i < 2; i++) await store.pause(job.no);
    for (let i = 0; i < 2; i++) await store.resume(job.no);
    for (let i = 0; i < 2; i++) await store.requestCancel(job.no, 'ann');
    expect((await reread(store, job)).state).toBe('cancelling');
    const lines = await store.log(job.no, { after: 0, limit: 10 });
    expect(lines.map((line) => line.state)).toEqual(['accepted', 'paused', 'running', 'cancelling']);
  });
}
