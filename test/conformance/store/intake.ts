import { range } from '../../../model/index-set';
import { DuplicateItemId, IdempotencyConflict, type NewItem, type Store } from '../../../store';
import { LARGE_MS, all, eachWithStore, newItems, newJob, submit, upload, type Open } from './kit';

const FAR = Number.MAX_SAFE_INTEGER;

export function intakeConformance(open: Open): void {
  describe('intake', () => {
    uploads(open);
    itemIds(open);
    inputs(open);
    idempotency(open);
  });
}

async function nothingIsSeen(store: Store): Promise<void> {
  expect(await store.jobs({ tenant: 'acme', limit: 10 })).toEqual([]);
  expect(await store.unstarted(FAR, 10)).toEqual([]);
  expect(await store.silent(FAR, 10)).toEqual([]);
}

function uploads(open: Open): void {
  const world = eachWithStore(open);

  it('shows an upload to nobody until it is sealed', async () => {
    const { store } = world;
    const no = await upload(store, newItems(3));
    await nothingIsSeen(store);
    expect(await store.jobByNo(no)).toBeUndefined();
    const { job, created } = await store.seal(no, newJob(3, { id: 'j', params: { a: [1] }, labels: { team: 'x' } }));
    expect(created).toBe(true);
    expect(job).toMatchObject({ id: 'j', tenant: 'acme', caller: 'ann', items: 3, state: 'accepted', generation: 1 });
    expect(job).toMatchObject({ params: { a: [1] }, labels: { team: 'x' }, createdAt: world.clock.now });
    expect(job).toMatchObject({ startedAt: null, workflowStartedAt: null, finishedAt: null, cancel: null });
    expect(await store.jobs({ tenant: 'acme', limit: 10 })).toEqual([job]);
    expect(await store.job('j', 'acme')).toEqual(job);
  });

  it('refuses to seal another count than was uploaded, and lets the right one be sealed after', async () => {
    const { store } = world;
    const no = await upload(store, newItems(3));
    await expect(store.seal(no, newJob(2))).rejects.toThrow('3');
    await expect(store.seal(no, newJob(4))).rejects.toThrow('3');
    await nothingIsSeen(store);
    expect(await store.seal(no, newJob(3))).toMatchObject({ created: true });
  });

  it('seals an upload once', async () => {
    const { store } = world;
    const no = await upload(store, newItems(3));
    const { job } = await store.seal(no, newJob(3));
    await expect(store.seal(no, newJob(3))).rejects.toThrow();
    await expect(store.addItems(no, newItems(1, 3))).rejects.toThrow();
    expect(await store.jobs({ tenant: 'acme', limit: 10 })).toEqual([job]);
    expect((await store.openItems(no, range(0, 10), 'run')).open).toHaveLength(3);
  });

  it('leaves nothing of a dropped upload, and neither adds to it nor seals it', async () => {
    const { store } = world;
    const no = await upload(store, newItems(25_000));
    await store.dropUpload(no);
    expect(await store.inputs(no, range(0, 25_000))).toEqual([]);
    expect(await store.brokenUploads(FAR)).toEqual([]);
    await expect(store.addItems(no, newItems(1))).rejects.toThrow('gone');
    expect(await store.inputs(no, range(0, 25_000))).toEqual([]);
    for (const count of [0, 1, 25_000]) await expect(store.seal(no, newJob(count))).rejects.toThrow();
    await store.dropUpload(no);
    await nothingIsSeen(store);
  }, 60_000);

  it('does not touch a job when its upload is dropped too late', async () => {
    const { store } = world;
    const job = await submit(store, 3);
    await store.dropUpload(job.no);
    expect((await store.openItems(job.no, all(job), 'run')).open).toHaveLength(3);
    expect(await store.jobByNo(job.no)).toEqual(job);
  });

  it('lists an upload as broken when nothing was added for the given time', async () => {
    const { store, clock } = world;
    const idle = await upload(store, newItems(1));
    clock.now += 60_000;
    const busy = await upload(store, newItems(1));
    const opened = clock.now;
    expect(await store.brokenUploads(opened)).toEqual([idle]);
    clock.now += 60_000;
    await store.addItems(busy, newItems(1, 1));
    expect(await store.brokenUploads(clock.now)).toEqual([idle]);
    clock.now += 60_000;
    expect(new Set(await store.brokenUploads(clock.now))).toEqual(new Set([idle, busy]));
    await store.seal(busy, newJob(2));
    expect(await store.brokenUploads(clock.now)).toEqual([idle]);
  });
}

function itemIds(open: Open): void {
  const world = eachWithStore(open);
  const item = (index: number, id: string): NewItem => ({ index, id, input: '{}' });

  it('names both positions of an id that occurs twice in a batch, and stores nothing of the batch', async () => {
    const { store } = world;
    const no = await upload(store, newItems(2));
    const refused = store.addItems(no, [item(2, 'x'), item(3, 'y'), item(4, 'x'), item(5, 'y')]);
    await expect(refused).rejects.toThrow(DuplicateItemId);
    await expect(refused).rejects.toMatchObject({ itemId: 'x', first: 2, second: 4 });
    expect(await store.inputs(no, range(0, 10))).toHaveLength(2);
    await store.addItems(no, [item(2, 'x'), item(3, 'y')]);
    expect(await store.seal(no, newJob(4))).toMatchObject({ created: true });
  });

  it('names both positions of an id that occurs in two batches', async () => {
    const { store } = world;
    const no = await upload(store, newItems(2_000));
    const batch = [item(2_000, 'new'), item(2_001, 'item-7'), item(2_002, 'item-8')];
    await expect(store.addItems(no, batch)).rejects.toMatchObject({ itemId: 'item-7', first: 7, second: 2_001 });
    expect(await store.inputs(no, range(0, 3_000))).toHaveLength(2_000);
  });

  it('lets two jobs share item ids', async () => {
    const { store } = world;
    const jobs = [await submit(store, 3), await submit(store, 3)];
    for (const job of jobs) expect(await store.inputs(job.no, all(job))).toHaveLength(3);
  });

  it('takes ids that only look alike for different ones, and finds each by itself', async () => {
    const { store } = world;
    const ids = [
      'a',
      'A',
      '\u00e9',
      'e\u0301',
      '7',
      '07',
      '7.0',
      ' 7',
      '7 ',
      '',
      'ß',
      'ss',
      '1e3',
      '1000',
      'null',
      '"',
    ];
    const no = await upload(
      store,
      ids.map((id, index) => item(index, id)),
    );
    const { job } = await store.seal(no, newJob(ids.length));
    expect((await store.inputs(no, all(job))).map((row) => row.id)).toEqual(ids);
    for (const [index, id] of ids.entries()) expect(await store.item(job, id)).toMatchObject({ index, id });
    expect(await store.item(job, 'b')).toBeUndefined();
  });
}

function inputs(open: Open): void {
  const world = eachWithStore(open);

  it(
    'keeps 25,000 items in their order',
    async () => {
      const { store } = world;
      const items = newItems(25_000);
      const { job } = await store.seal(await upload(store, items), newJob(items.length));
      expect(await store.inputs(job.no, all(job))).toEqual(items.map((item) => ({ ...item, resume: null })));
      expect((await store.openItems(job.no, all(job), 'run')).open).toHaveLength(25_000);
    },
    LARGE_MS,
  );

  it('gives inputs back exactly as they came, whatever is in them', async () => {
    const { store } = world;
    const texts = [
      JSON.stringify({ nul: 'a\0b', high: '\uD83D', low: '\uDE00', key: { '\0': 1 } }),
      JSON.stringify('😀 ñ 漢字 \u2028 \uFFFD \uFEFF'),
      JSON.stringify({ text: `${'x😀'.repeat(180_000)}` }),
      '{"spaces" : [ 1.0 , 1e5,-0 ], "twice":1,"twice":2, "big":12345678901234567890}',
      'null',
      '"back\\\\slash \\/ \\"quoted\\" \\u00e9"',
    ];
    expect(Buffer.byteLength(texts[2]!)).toBeGreaterThan(900_000);
    const no = await upload(
      store,
      texts.map((input, index) => ({ index, id: `i${index}`, input })),
    );
    const { job } = await store.seal(no, newJob(texts.length));
    expect((await store.inputs(no, all(job))).map((row) => row.input)).toEqual(texts);
    const { open: items } = await store.openItems(no, all(job), 'run');
    expect(items.map((row) => row.bytes)).toEqual(texts.map((text) => Buffer.byteLength(text)));
  });
}

function idempotency(open: Open): void {
  const world = eachWithStore(open);
  const keyed = (key: string, bodyHash: string) => ({ idempotency: { key, bodyHash } });

  it('answers the same key and body with the job that has the key, and drops the upload', async () => {
    const { store } = world;
    const first = await submit(store, 3, keyed('k', 'h'));
    const again = await upload(store, newItems(3));
    expect(await store.seal(again, newJob(3, keyed('k', 'h')))).toEqual({ job: first, created: false });
    expect(await store.brokenUploads(FAR)).toEqual([]);
    expect(await store.inputs(again, range(0, 3))).toEqual([]);
    await expect(store.addItems(again, newItems(1, 3))).rejects.toThrow();
  });

  it('answers a seal that is sent twice with the job that it made', async () => {
    const { store } = world;
    const no = await upload(store, newItems(3));
    const { job } = await store.seal(no, newJob(3, keyed('k', 'h')));
    expect(await store.seal(no, newJob(3, keyed('k', 'h')))).toEqual({ job, created: false });
    expect(await store.inputs(no, all(job))).toHaveLength(3);
  });

  it('refuses the same key with another body', async () => {
    const { store } = world;
    const first = await submit(store, 3, keyed('k', 'h'));
    const other = await upload(store, newItems(3));
    await expect(store.seal(other, newJob(3, keyed('k', 'other')))).rejects.toThrow(IdempotencyConflict);
    expect(await store.jobs({ tenant: 'acme', limit: 10 })).toEqual([first]);
    await store.dropUpload(other);
    expect(await store.brokenUploads(FAR)).toEqual([]);
  });

  it('keeps the keys of tenants apart', async () => {
    const { store } = world;
    const ours = await submit(store, 3, keyed('k', 'h'));
    const theirs = await submit(store, 3, { ...keyed('k', 'other'), tenant: 'globex' });
    expect(theirs.no).not.toBe(ours.no);
  });

  it('makes one job of 20 seals with one key at once over two connections', async () => {
    const stores = [world.store, await world.reopen()];
    const sealed = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const store = stores[i % 2]!;
        return store.seal(await upload(store, newItems(3)), newJob(3, keyed('k', 'h')));
      }),
    );
    expect(sealed.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(sealed.map(({ job }) => job.id)).size).toBe(1);
    expect(await world.store.jobs({ tenant: 'acme', limit: 30 })).toHaveLength(1);
    expect(await world.store.brokenUploads(FAR)).toEqual([]);
  });
}
