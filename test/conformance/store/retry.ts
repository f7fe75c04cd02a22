import { fromIndexes, indexes, range } from '../../../model/index-set';
import { LineageBusy, NotRetryable, type JobRecord, type RetrySelection, type Store } from '../../../store';
import {
  LARGE_MS,
  eachWithStore,
  endAll,
  ended,
  fence,
  finishAll,
  flush,
  intent,
  newJob,
  openUnit,
  reread,
  resultOf,
  runUnit,
  startWaits,
  submit,
  type Open,
} from './kit';

/** Jobs that retry others. */
export function retryConformance(open: Open): void {
  describe('retrying', () => {
    selecting(open);
    refusing(open);
    inheriting(open);
    batches(open);
    waits(open);
  });
}

function retry(store: Store, of: JobRecord, selection: Partial<RetrySelection> = {}, more = {}) {
  const { items: _items, ...job } = newJob(0, { capability: of.capability, plan: of.plan, ...more });
  return store.retry(of, { openCalls: 'leave_out', ...selection }, job);
}

async function idsOf(store: Store, job: JobRecord): Promise<string[]> {
  return (await store.items(job, { after: -1, limit: 1_000 })).map((item) => item.id);
}

/** A closed job: 0 and 1 succeeded, 2 to 4 failed, 5 needs review, 6 and 7 were skipped. */
async function closed(store: Store, more = {}): Promise<JobRecord> {
  const job = await submit(store, 8, more);
  const dead = ended('failed', [4]).map((item) => ({
    ...item,
    dead: true,
    body: { error: { code: 'boom', message: 'no' } },
  }));
  await runUnit(store, job, 1, {
    settled: [...ended('succeeded', [0, 1]), ...ended('failed', [2, 3]), ...dead, ...ended('needs_review', [5])],
  });
  await endAll(store, job, 'skipped');
  await store.finalize(job.no, 0);
  return reread(store, job);
}

function selecting(open: Open): void {
  const world = eachWithStore(open);

  const cases: [string, Partial<RetrySelection>, number[]][] = [
    ['what failed', {}, [2, 3, 4]],
    ['dead letters', { deadLettered: true }, [4]],
    ['what was skipped', { outcome: 'skipped' }, [6, 7]],
    ['what needs review', { outcome: 'needs_review' }, [5]],
    ['named items', { items: ['item-7', 'item-2', 'item-5'] }, [2, 5, 7]],
  ];
  it.each(cases)('takes %s, in their order, numbered anew', async (_what, selection, expected) => {
    const { store } = world;
    const of = await closed(store);
    const { job, created, leftOut } = await retry(store, of, selection);
    expect({ created, leftOut }).toEqual({ created: true, leftOut: { openCalls: 0, retriedSince: 0 } });
    expect(job).toMatchObject({ state: 'accepted', items: expected.length, retryOf: of.id, rootNo: of.no });
    expect(await idsOf(store, job)).toEqual(expected.map((index) => `item-${index}`));
    const inputs = await store.inputs(job.no, range(0, job.items));
    expect(inputs.map((item) => item.input)).toEqual(expected.map((index) => `{"n":${index}}`));
  });

  it('leaves out what a later job of the lineage has taken', async () => {
    const { store } = world;
    const of = await closed(store);
    const first = (await retry(store, of, { items: ['item-3'] })).job;
    await finishAll(store, first, 'succeeded');
    const second = await retry(store, of);
    expect(second.leftOut).toEqual({ openCalls: 0, retriedSince: 1 });
    expect(await idsOf(store, second.job)).toEqual(['item-2', 'item-4']);
    await finishAll(store, second.job, 'failed');
    const third = await retry(store, await reread(store, second.job), { items: ['item-4'] });
    expect(third.job).toMatchObject({ rootNo: of.no, retryOf: second.job.id, items: 1 });
  });

  it('gives the same job for the same idempotency key, also while that runs', async () => {
    const { store } = world;
    const of = await closed(store);
    const idempotency = { key: 'again', bodyHash: 'a' };
    const first = await retry(store, of, {}, { idempotency });
    const second = await retry(store, of, {}, { idempotency });
    expect(second).toEqual({ job: first.job, created: false, leftOut: null });
    await expect(retry(store, of, {}, { idempotency: { key: 'again', bodyHash: 'b' } })).rejects.toThrow(
      'another body',
    );
  });

  it(
    'takes every other one of 25,000 items',
    async () => {
      const { store } = world;
      const job = await submit(store, 25_000);
      const odd = [...indexes(range(0, 25_000))].filter((index) => index % 2 === 1);
      await runUnit(store, job, 1, { settled: ended('failed', odd) });
      await finishAll(store, job, 'succeeded');
      const again = (await retry(store, await reread(store, job))).job;
      expect(again.items).toBe(12_500);
      expect((await store.items(again, { after: 12_498, limit: 2 })).map((item) => item.id)).toEqual(['item-24999']);
      expect(await store.beginning(again.no)).toEqual({ cursor: 0, nextDue: null });
    },
    LARGE_MS,
  );
}

function refusing(open: Open): void {
  const world = eachWithStore(open);

  it('refuses while the job, or another one of its lineage, has not ended', async () => {
    const { store } = world;
    const running = await submit(store, 2);
    await expect(retry(store, running)).rejects.toThrow(LineageBusy);
    const of = await closed(store);
    const first = (await retry(store, of, { items: ['item-2'] })).job;
    await expect(retry(store, of)).rejects.toMatchObject({ name: 'LineageBusy', jobId: first.id });
    await finishAll(store, first, 'failed');
    await expect(retry(store, of)).resolves.toHaveProperty('created', true);
  });

  it('makes one job of two requests at once', async () => {
    const { store } = world;
    const other = await world.reopen();
    const of = await closed(store);
    const answers = await Promise.allSettled([retry(store, of), retry(other, of)]);
    expect(answers.map((answer) => answer.status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(answers.find((answer) => answer.status === 'rejected')).toHaveProperty('reason.name', 'LineageBusy');
    expect(await store.lineage(of)).toHaveLength(2);
    expect(await store.brokenUploads(Infinity)).toEqual([]);
  });

  it('names items that are not in the job, or have succeeded', async () => {
    const { store } = world;
    const of = await closed(store);
    await expect(retry(store, of, { items: ['item-2', 'nobody'] })).rejects.toMatchObject({
      ...{ name: 'NotRetryable', why: 'unknown_items', itemIds: ['nobody'] },
    });
    await expect(retry(store, of, { items: ['item-2', 'item-0'] })).rejects.toMatchObject({
      ...{ name: 'NotRetryable', why: 'succeeded_items', itemIds: ['item-0'] },
    });
    expect(await store.lineage(of)).toHaveLength(1);
  });

  it('refuses where nothing is left', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    await finishAll(store, job, 'succeeded');
    await expect(retry(store, await reread(store, job))).rejects.toThrow(NotRetryable);
    expect(await store.brokenUploads(Infinity)).toEqual([]);
  });
}

function inheriting(open: Open): void {
  const world = eachWithStore(open);

  /** A closed job whose item 0 failed after a call, and whose item 1 has a call without an answer. */
  async function paid(store: Store): Promise<JobRecord> {
    const job = await submit(store, 2);
    const unit = await openUnit(store, job, 1);
    const calls = [intent(job, unit, 0), intent(job, unit, 1)];
    await store.journal(calls);
    await store.journal([resultOf(calls[0]!, 'paid'), { ...calls[1]!, type: 'unknown', remoteId: 'ch_1' }]);
    await store.settle([
      flush(unit, {
        settled: ended('failed', [0, 1]),
        usage: [{ itemId: 'item-0', key: 'k', name: 'calls', quantity: 1 }],
        close: true,
      }),
    ]);
    await store.finalize(job.no, 0);
    return reread(store, job);
  }

  it('has the journal and the usage of the job that it retries', async () => {
    const { store } = world;
    const of = await paid(store);
    const { job, leftOut } = await retry(store, of);
    expect(leftOut).toEqual({ openCalls: 1, retriedSince: 0 });
    const unit = await openUnit(store, job, 1);
    const [answer] = await store.journal([intent(job, unit, 0)]);
    expect(answer).toMatchObject({ is: 'known', entry: { state: 'done', result: 'paid' } });
    const usage = [{ itemId: 'item-0', key: 'k', name: 'calls', quantity: 1 }];
    await store.settle([flush(unit, { usage, settled: ended('succeeded', [0]), close: true })]);
    await store.finalize(job.no, 0);
    expect((await reread(store, job)).statement).toMatchObject({ usage: {}, vendorCalls: { made: 0, unanswered: 0 } });
  });

  it('takes items with an open call where it is told to, with the call as it stands', async () => {
    const { store } = world;
    const of = await paid(store);
    const { job } = await retry(store, of, { openCalls: 'look_up' });
    expect(job.items).toBe(2);
    expect(await store.openIntents(job.no)).toEqual(fromIndexes([1]));
    const [answer] = await store.journal([intent(job, await openUnit(store, job, 1), 1)]);
    expect(answer).toMatchObject({ is: 'known', entry: { state: 'unknown', remoteId: 'ch_1' } });
  });

  it('forgets open calls where a person knows that nothing was charged, and no others', async () => {
    const { store } = world;
    const of = await paid(store);
    const { job } = await retry(store, of, { openCalls: 'send_again' });
    const unit = await openUnit(store, job, 1);
    const answers = await store.journal([intent(job, unit, 0), intent(job, unit, 1)]);
    expect(answers).toMatchObject([{ is: 'known', entry: { state: 'done' } }, { is: 'stored' }]);
  });

  it('is refused when the job was deleted; keeps the journal when it is deleted later', async () => {
    const { store } = world;
    const of = await paid(store);
    const { job } = await retry(store, of);
    await store.deleteJob(of.no);
    await store.dropUpload(of.no);
    const [answer] = await store.journal([intent(job, await openUnit(store, job, 1), 0)]);
    expect(answer).toMatchObject({ is: 'known', entry: { result: 'paid' } });
    expect(await idsOf(store, job)).toEqual(['item-0']);
  });
}

function batches(open: Open): void {
  const world = eachWithStore(open);

  it('forms a batch again whose members are all retried, and no other', async () => {
    const { store } = world;
    const job = await submit(store, 8);
    const unit = await openUnit(store, job, 1);
    const batch = (subject: string, members: readonly number[]) =>
      intent(job, unit, 0, { subject: `b:${subject}`, members: fromIndexes(members) });
    await store.journal([batch('whole', [2, 3, 5]), batch('part', [6, 7])]);
    await store.journal([resultOf(batch('whole', []), 1), resultOf(batch('part', []), 2)]);
    await store.settle([flush(unit, { settled: ended('failed', [2, 3, 5, 6]), close: true })]);
    await finishAll(store, job, 'succeeded');
    const again = (await retry(store, await reread(store, job))).job;
    const next = await openUnit(store, again, 1);
    expect(await store.pinnedBatches(next, range(0, 4))).toEqual([{ members: fromIndexes([0, 1, 2]), mine: true }]);
  });

  it('leaves out the members of a batch with an open call', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await store.journal([intent(job, unit, 0, { subject: 'b:open', members: fromIndexes([0, 1]) })]);
    await store.settle([flush(unit, { settled: ended('failed', [0, 1, 2]), close: true })]);
    await store.finalize(job.no, 0);
    const of = await reread(store, job);
    const left = await retry(store, of);
    expect(left.leftOut).toEqual({ openCalls: 2, retriedSince: 0 });
    await finishAll(store, left.job, 'succeeded');
    const sent = await retry(store, of, { openCalls: 'send_again' });
    const again = intent(sent.job, fence(sent.job, 1), 0, { subject: 'b:open', members: fromIndexes([0, 1]) });
    await openUnit(store, sent.job, 1);
    expect(await store.journal([again])).toEqual([{ is: 'stored' }]);
  });
}

function waits(open: Open): void {
  const world = eachWithStore(open);
  const wait = { call: 'wait:verdict#1', kind: 'start' as const, vendor: null };

  it('starts a wait anew that has ended at its vendor, and asks again for one that has not', async () => {
    const { store, clock } = world;
    const job = await submit(store, 3);
    const unit = await openUnit(store, job, 1);
    await startWaits(store, job, unit, [0, 1, 2], { due: clock.now });
    const failed = (index: number, code: string) => ({
      ...{ index, outcome: 'failed' as const, attempts: 1 },
      body: { error: { code, message: 'no answer' }, remoteId: `r${index}` },
    });
    const settled = [failed(0, 'wait_expired'), failed(1, 'wait_check_failed'), failed(2, 'wait_timeout')];
    await store.settle([flush(unit, { settled, close: true })]);
    await store.finalize(job.no, 0);
    const again = (await retry(store, await reread(store, job))).job;
    const next = await openUnit(store, again, 1);
    const answers = await store.journal([0, 1, 2].map((index) => intent(again, next, index, wait)));
    expect(answers.map((answer) => answer.is)).toEqual(['stored', 'known', 'stored']);
  });

  it.each([0, 1])(
    'starts a cancelled wait anew if the vendor heard of the cancel (%i requests failed)',
    async (bad) => {
      const { store, clock } = world;
      const job = await submit(store, 1);
      const unit = await openUnit(store, job, 1);
      await startWaits(store, job, unit, [0], { due: clock.now });
      await store.requestCancel(job.no, 'ann');
      await store.noteVendorCancels(job.no, 1, bad);
      await store.endCancelled(job.no);
      await store.finalize(job.no, 0);
      const again = (await retry(store, await reread(store, job), { outcome: 'skipped' })).job;
      const [answer] = await store.journal([intent(again, await openUnit(store, again, 1), 0, wait)]);
      expect(answer!.is).toBe(bad === 0 ? 'stored' : 'known');
    },
  );
}
