import { JOB_STATES, isTerminal, type JobState } from '../../../model/states';
import type { JobRecord, Store } from '../../../store';
import { LARGE_MS, all, eachWithStore, ended, finishAll, openUnit, reread, runUnit, submit, type Open } from './kit';

const FAR = Number.MAX_SAFE_INTEGER;

/** Brings a new job of two items into each state, by the calls that do so in life. */
const BRING: Readonly<Record<JobState, (store: Store, job: JobRecord) => Promise<unknown>>> = {
  accepted: async () => undefined,
  expanding: (store, job) => store.workflowStarted(job.no, 1),
  running: (store, job) => openUnit(store, job, 1),
  paused: (store, job) => store.pause(job.no),
  cancelling: (store, job) => store.requestCancel(job.no, 'first'),
  succeeded: (store, job) => finishAll(store, job, 'succeeded'),
  failed: (store, job) => finishAll(store, job, 'failed'),
  cancelled: async (store, job) => {
    await store.requestCancel(job.no, 'first');
    await finishAll(store, job, 'skipped');
  },
  completed_with_errors: async (store, job) => {
    await runUnit(store, job, 1, { settled: ended('succeeded', [0]) });
    await finishAll(store, job, 'failed');
  },
};

type Verb = 'pause' | 'resume' | 'cancel' | 'start' | 'firstUnit';

const VERBS: Readonly<Record<Verb, (store: Store, job: JobRecord) => Promise<unknown>>> = {
  pause: (store, job) => store.pause(job.no),
  resume: (store, job) => store.resume(job.no),
  cancel: (store, job) => store.requestCancel(job.no, 'second'),
  start: (store, job) => store.workflowStarted(job.no, 1),
  firstUnit: (store, job) =>
    store.openUnit({ jobNo: job.no, generation: 1, seq: 9, delivery: 'd' }, { worker: 'w', size: 1, running: 0 }),
};

/** Where each verb leads; a state that is not named stays what it is. */
const LEADS: Readonly<Record<Verb, Partial<Record<JobState, JobState>>>> = {
  pause: { accepted: 'paused', expanding: 'paused', running: 'paused' },
  resume: { paused: 'running' },
  cancel: { accepted: 'cancelling', expanding: 'cancelling', running: 'cancelling', paused: 'cancelling' },
  start: { accepted: 'expanding' },
  firstUnit: { accepted: 'running', expanding: 'running' },
};

export function lifecycleConformance(open: Open): void {
  describe('the life of a job', () => {
    stateTable(open);
    cancel(open);
    deletion(open);
  });
}

function stateTable(open: Open): void {
  const world = eachWithStore(open);

  it.each(Object.keys(VERBS) as Verb[])('follows the state table on %s', async (verb) => {
    const { store, clock } = world;
    for (const from of JOB_STATES) {
      const job = await submit(store, 2);
      await BRING[from](store, job);
      const before = await reread(store, job);
      expect(before.state).toBe(from);
      clock.now += 1_000;
      const answer = await VERBS[verb](store, job);
      const after = await reread(store, job);
      expect([from, after.state]).toEqual([from, LEADS[verb][from] ?? from]);
      expect(after.paused).toBe(after.state === 'paused');
      if (verb === 'pause' || verb === 'resume' || verb === 'cancel') expect(answer).toEqual(after);
      if (isTerminal(from)) expect(after).toEqual(before);
    }
  });

  it('opens no unit of a job that has ended', async () => {
    const { store } = world;
    for (const from of JOB_STATES.filter(isTerminal)) {
      const job = await submit(store, 2);
      await BRING[from](store, job);
      expect(await VERBS.firstUnit(store, job)).toBeUndefined();
      expect(await store.unitWorkers(job.no)).toEqual([]);
    }
  });
}

function cancel(open: Open): void {
  const world = eachWithStore(open);

  it('keeps the first who cancelled, and when', async () => {
    const { store, clock } = world;
    const job = await submit(store, 2);
    const cancelled = await store.requestCancel(job.no, 'ann\0');
    expect(cancelled.cancel).toMatchObject({ at: clock.now, by: 'ann\uFFFD' });
    clock.now += 1_000;
    expect(await store.requestCancel(job.no, 'bob')).toEqual(cancelled);
    await finishAll(store, job, 'skipped');
    expect((await store.requestCancel(job.no, 'eve')).cancel).toEqual(cancelled.cancel);
  });

  it('has one first caller when two cancel at once over two connections', async () => {
    const { store } = world;
    const other = await world.reopen();
    const job = await submit(store, 2);
    const answers = await Promise.all([store.requestCancel(job.no, 'ann'), other.requestCancel(job.no, 'bob')]);
    expect(answers[0]).toEqual(answers[1]);
    expect(['ann', 'bob']).toContain(answers[0].cancel?.by);
  });

  it('does not let a cancelled job be paused, resumed or started again', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    await store.pause(job.no);
    const cancelled = await store.requestCancel(job.no, 'ann');
    expect(cancelled).toMatchObject({ state: 'cancelling', paused: false });
    expect(await store.pause(job.no)).toEqual(cancelled);
    expect(await store.resume(job.no)).toEqual(cancelled);
  });

  it('says which of some jobs are being cancelled', async () => {
    const { store } = world;
    const jobs = [await submit(store, 1), await submit(store, 1), await submit(store, 1)];
    await store.requestCancel(jobs[1]!.no, 'ann');
    const asked = [...jobs.map((job) => job.no), 999_999];
    expect(await store.cancelling(asked)).toEqual([jobs[1]!.no]);
    expect(await store.cancelling([])).toEqual([]);
    expect(await store.cancelling([jobs[0]!.no])).toEqual([]);
  });
}

function deletion(open: Open): void {
  const world = eachWithStore(open);

  it('refuses to delete a job that is open', async () => {
    const { store } = world;
    for (const state of JOB_STATES.filter((candidate) => !isTerminal(candidate))) {
      const job = await submit(store, 2);
      await BRING[state](store, job);
      const before = await reread(store, job);
      expect(await store.deleteJob(job.no)).toBe(false);
      expect(await reread(store, job)).toEqual(before);
    }
    expect(await store.brokenUploads(FAR)).toEqual([]);
  });

  it(
    'hides a deleted job at once, and drops its rows as those of a broken upload',
    async () => {
      const { store, clock } = world;
      const keyed = { labels: { a: 'b' }, idempotency: { key: 'k', bodyHash: 'h' } };
      const job = await submit(store, 25_000, keyed);
      const kept = await submit(store, 3, { labels: { a: 'b' } });
      await runUnit(store, job, 1, {
        settled: ended('succeeded', [0]),
        log: [{ level: 'info', source: 'payload', message: 'hello' }],
      });
      await finishAll(store, job, 'failed');
      expect(await store.deleteJob(job.no)).toBe(true);
      expect(await store.jobByNo(job.no)).toBeUndefined();
      expect(await store.job(job.id, 'acme')).toBeUndefined();
      expect(await store.jobs({ tenant: 'acme', limit: 10, label: { key: 'a', value: 'b' } })).toEqual([kept]);
      expect(await store.brokenUploads(clock.now - 60_000)).toEqual([job.no]);
      await store.dropUpload(job.no);
      expect(await store.brokenUploads(FAR)).toEqual([]);
      expect(await store.inputs(job.no, all(job))).toEqual([]);
      expect(await store.items(job, { after: -1, limit: 5 })).toEqual([]);
      expect(await store.items(job, { outcome: 'failed', after: -1, limit: 5 })).toEqual([]);
      expect(await store.log(job.no, { after: 0, limit: 5 })).toEqual([]);
      expect((await store.openItems(kept.no, all(kept), 'run')).open).toHaveLength(3);
      expect(await store.deleteJob(job.no)).toBe(true);
    },
    LARGE_MS,
  );

  it('lets nobody bring a deleted job back as an upload, and frees its key', async () => {
    const { store } = world;
    const keyed = { idempotency: { key: 'k', bodyHash: 'h' } };
    const job = await submit(store, 1, keyed);
    await finishAll(store, job, 'succeeded');
    await store.deleteJob(job.no);
    await expect(store.addItems(job.no, [{ index: 1, id: 'late', input: '{}' }])).rejects.toThrow();
    await expect(store.seal(job.no, { ...job, items: 0, idempotency: null })).rejects.toThrow();
    const again = await submit(store, 1, { ...keyed, id: job.id });
    expect(again.no).toBeGreaterThan(job.no);
    expect((await store.openItems(again.no, all(again), 'run')).open).toHaveLength(1);
  });
}
