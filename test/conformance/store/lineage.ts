import type { JobRecord, LineageItem, Store } from '../../../store';
import type { Outcome } from '../../../model/states';
import {
  eachWithStore,
  endAll,
  ended,
  finishAll,
  intent,
  newJob,
  openUnit,
  reread,
  runUnit,
  submit,
  type Open,
} from './kit';

/** What a chain of jobs came to, and what was given up on. */
export function lineageConformance(open: Open): void {
  describe('a lineage', () => {
    newest(open);
  });
  describe('dead letters', () => {
    deadLetters(open);
  });
}

async function retry(store: Store, of: JobRecord, items: readonly string[]): Promise<JobRecord> {
  const { items: _items, ...job } = newJob(0, { capability: of.capability });
  return (await store.retry(await reread(store, of), { items, openCalls: 'leave_out' }, job)).job;
}

async function read(store: Store, job: JobRecord, limit: number, outcome?: Outcome): Promise<LineageItem[]> {
  const all: LineageItem[] = [];
  let after: string | null = null;
  do {
    const page = await store.lineageItems(job, { after, limit, ...(outcome && { outcome }) });
    all.push(...page.items);
    after = page.next;
  } while (after !== null);
  return all;
}

function newest(open: Open): void {
  const world = eachWithStore(open);

  async function chain(store: Store): Promise<[JobRecord, JobRecord, JobRecord]> {
    const first = await submit(store, 5);
    await runUnit(store, first, 1, { settled: [...ended('succeeded', [0, 2]), ...ended('failed', [1, 3, 4])] });
    await store.finalize(first.no, 0);
    const second = await retry(store, first, ['item-1', 'item-3']);
    await runUnit(store, second, 1, { settled: [...ended('succeeded', [0]), ...ended('failed', [1])] });
    await store.finalize(second.no, 0);
    const third = await retry(store, second, ['item-3']);
    return [first, second, third];
  }

  it.each([1, 2, 100])(
    'gives the newest outcome of each item once, whichever job is asked (pages of %i)',
    async (limit) => {
      const { store } = world;
      const jobs = await chain(store);
      const [first, second, third] = jobs;
      await endAll(store, third, 'needs_review');
      await store.finalize(third.no, 0);
      const expected = [
        ['item-0', 'succeeded', first.id],
        ['item-1', 'succeeded', second.id],
        ['item-2', 'succeeded', first.id],
        ['item-3', 'needs_review', third.id],
        ['item-4', 'failed', first.id],
      ];
      for (const job of jobs) {
        const items = await read(store, job, limit);
        expect(items.map(({ item, jobId }) => [item.id, item.state, jobId])).toEqual(expected);
      }
      expect((await read(store, third, limit, 'succeeded')).map(({ item }) => item.id)).toEqual([
        'item-0',
        'item-1',
        'item-2',
      ]);
      expect((await store.lineage(second)).map((job) => job.id)).toEqual(jobs.map((job) => job.id));
    },
  );

  it('has the older outcome while a newer one is not there yet, and does without deleted jobs', async () => {
    const { store } = world;
    const [first, second, third] = await chain(store);
    expect((await read(store, third, 10)).map(({ item }) => item.state)).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
      'failed',
      'failed',
    ]);
    await store.deleteJob(first.no);
    expect((await read(store, third, 10)).map(({ item, jobId }) => [item.id, jobId])).toEqual([
      ['item-1', second.id],
      ['item-3', second.id],
    ]);
  });
}

function deadLetters(open: Open): void {
  const world = eachWithStore(open);
  const dead = (index: number, code: string) => ({
    ...{ index, outcome: 'failed' as const, attempts: 3, dead: true },
    body: { error: { code, message: `died of ${code}` } },
  });

  it('are listed, the newest first, shown with all that a replay needs, and counted', async () => {
    const { store, clock } = world;
    const job = await submit(store, 4, { params: { to: 'x' }, labels: { team: 'a' } });
    const unit = await openUnit(store, job, 1);
    await store.journal([intent(job, unit, 1)]);
    const settled = [dead(1, 'boom'), ...ended('failed', [2]), dead(3, 'item_timeout')];
    await store.settle([{ ...empty(unit), settled }]);
    expect(await store.openDeadLetters()).toBe(2);
    const list = await store.deadLetters({ tenant: 'acme', limit: 10 });
    expect(list.map((letter) => [letter.itemId, letter.error.code])).toEqual([
      ['item-3', 'item_timeout'],
      ['item-1', 'boom'],
    ]);
    expect(await store.deadLetters({ tenant: 'acme', limit: 10, code: 'boom' })).toHaveLength(1);
    expect(await store.deadLetters({ tenant: 'acme', limit: 10, before: list[0]!.no })).toEqual([list[1]]);
    expect(await store.deadLetters({ tenant: 'acme', limit: 10, capability: 'no.such@1' })).toEqual([]);
    expect(await store.deadLetters({ tenant: 'acme', limit: 10, jobNo: job.no })).toHaveLength(2);
    expect(await store.deadLetters({ tenant: 'other', limit: 10 })).toEqual([]);
    expect(await store.deadLetter(list[1]!.no, 'acme')).toEqual({
      ...{ no: list[1]!.no, jobId: job.id, capability: job.capability, itemId: 'item-1', at: clock.now, attempts: 3 },
      error: { code: 'boom', message: 'died of boom' },
      replayedBy: null,
      ...{ input: { n: 1 }, params: { to: 'x' }, labels: { team: 'a' } },
      openCalls: [{ call: 'charge', vendor: 'acme-pay', key: 'key-1', remoteId: null }],
    });
    expect(await store.deadLetter(list[1]!.no, 'other')).toBeUndefined();
  });

  it('are not made where the item has another outcome, nor twice', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    const unit = await openUnit(store, job, 1);
    await store.settle([{ ...empty(unit), settled: ended('succeeded', [0]) }]);
    for (let i = 0; i < 2; i++) await store.settle([{ ...empty(unit), settled: [dead(0, 'boom'), dead(1, 'boom')] }]);
    expect((await store.deadLetters({ tenant: 'acme', limit: 10 })).map((letter) => letter.itemId)).toEqual(['item-1']);
  });

  it('are dealt with when a job retries them, and gone with their job', async () => {
    const { store } = world;
    const job = await submit(store, 2);
    await runUnit(store, job, 1, { settled: [dead(0, 'boom'), dead(1, 'boom')] });
    await store.finalize(job.no, 0);
    const again = await retry(store, job, ['item-1']);
    expect(await store.openDeadLetters()).toBe(1);
    const replayed = await store.deadLetters({ tenant: 'acme', replayed: true, limit: 10 });
    expect(replayed).toMatchObject([{ itemId: 'item-1', replayedBy: again.id }]);
    expect(await store.deadLetters({ tenant: 'acme', replayed: false, limit: 10 })).toMatchObject([
      { itemId: 'item-0' },
    ]);
    await finishAll(store, again, 'succeeded');
    await store.deleteJob(job.no);
    expect(await store.openDeadLetters()).toBe(0);
    await store.dropUpload(job.no);
    expect(await store.deadLetters({ tenant: 'acme', limit: 10 })).toEqual([]);
  });
}

function empty(unit: Awaited<ReturnType<typeof openUnit>>) {
  return { fence: unit, settled: [], parked: [], usage: [], log: [], running: 0, progress: {}, close: false };
}
