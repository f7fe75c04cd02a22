import { itemsOf } from '../../test/support/rig';
import { scripted, type Act } from '../../test/support/payloads';
import { echo } from '../fixtures/echo';
import { call, ended, get, problem, submit } from '../fixtures/http';
import { openTestApi, type TestApi } from '../fixtures/test-api';
import { itemsPageSchema, jobsPageSchema, type ItemJson, type JobJson } from '../schemas';

describe('pages of jobs', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await openTestApi({ payloads: [scripted().payload, echo] });
  });
  afterAll(() => api.stop());

  const labelled = (label: string): Promise<JobJson> => submit(api.url, itemsOf(1), { labels: { test: label } });
  const page = (query: string) => get(api.url, `/v1/jobs?${query}`, jobsPageSchema);

  it('show the newest first, with no gap and nothing twice while new jobs arrive', async () => {
    const old: string[] = [];
    for (let index = 0; index < 10; index++) old.unshift((await labelled('paging')).id);
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const after: string = next === null ? '' : `&after=${next}`;
      const { jobs, next: following }: { jobs: JobJson[]; next: string | null } = await page(`limit=3${after}`);
      seen.push(...jobs.map((job) => job.id));
      next = following;
      await labelled('paging');
    } while (next !== null);
    expect(seen).toEqual(old);
  });

  it('end where the last page is full, with an empty one', async () => {
    for (let index = 0; index < 4; index++) await labelled('full');
    const first = await page('label=test:full&limit=4');
    expect(first.jobs).toHaveLength(4);
    expect(await page(`label=test:full&limit=4&after=${first.next}`)).toEqual({ jobs: [], next: null });
  });

  it('are filtered by label, state and capability, and by all of them', async () => {
    const a = await labelled('filters: a');
    const other = await submit(api.url, itemsOf(1), { capability: 'test.echo', labels: { test: 'filters: a' } });
    await labelled('filters: b');
    const ids = async (query: string): Promise<string[]> => (await page(query)).jobs.map((job) => job.id);
    const label = `label=${encodeURIComponent('test:filters: a')}`;
    expect(await ids(label)).toEqual([other.id, a.id]);
    expect(await ids(`${label}&capability=test.script@1`)).toEqual([a.id]);
    await api.store.pause((await api.store.job(a.id, 'default'))!.no);
    expect(await ids(`${label}&state=paused`)).toEqual([a.id]);
    expect(await ids(`${label}&state=paused&capability=test.echo@1`)).toEqual([]);
    expect(await ids('label=test:nothing')).toEqual([]);
    expect(await ids('capability=no.such@1')).toEqual([]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=x', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['state=done', 'state'],
    ['state=', 'state'],
    ['capability=', 'capability'],
    ['label=shop', 'label'],
    ['label=', 'label'],
    ['label=a:b&label=c:d', 'label'],
  ])('refuse the query %s', async (query, path) => {
    expect(problem(await call(api.url, `/v1/jobs?${query}`), 'invalid_request').issues).toMatchObject([{ path }]);
  });

  it.each(['x', '-1', '1.5', '', '1e3', '0x1', '99999999999999999999', '%F0%9F%98%80'])(
    'refuse the cursor "%s"',
    async (cursor) => {
      problem(await call(api.url, `/v1/jobs?after=${cursor}`), 'invalid_cursor');
    },
  );

  it('take any limit up to 1,000', async () => {
    for (const limit of [1, 1_000]) expect((await page(`limit=${limit}`)).jobs.length).toBeLessThanOrEqual(limit);
  });
});

describe('pages of items', () => {
  const ACTS: readonly Act[] = ['ok', 'reject', 'review'];
  let api: TestApi;
  let id: string;
  beforeAll(async () => {
    api = await openTestApi({ worker: true });
    id = (
      await submit(
        api.url,
        itemsOf(250, (index) => ({ acts: [ACTS[index % 3]] })),
      )
    ).id;
    await ended(api.url, id);
  });
  afterAll(() => api.stop());

  async function all(query: string): Promise<ItemJson[]> {
    const items: ItemJson[] = [];
    let after = '';
    for (;;) {
      const page = await get(api.url, `/v1/jobs/${id}/items?${query}${after}`, itemsPageSchema);
      items.push(...page.items);
      if (page.next === null) return items;
      after = `&after=${page.next}`;
    }
  }

  it.each(['limit=1', 'limit=7', 'limit=125', 'limit=250', 'limit=1000', ''])(
    'give every item once, in the order of the upload (%s)',
    async (query) => {
      const items = await all(query);
      expect(items.map((item) => item.index)).toEqual(Array.from({ length: 250 }, (_, index) => index));
      expect(items.map((item) => item.id)).toEqual(items.map((_, index) => `i${index}`));
    },
  );

  it.each([
    ['succeeded', 0],
    ['failed', 1],
    ['needs_review', 2],
  ])('give those that %s, and no others', async (outcome, first) => {
    const wanted = Array.from({ length: 250 }, (_, index) => index).filter((index) => index % 3 === first);
    for (const limit of [10, 1_000]) {
      const items = await all(`outcome=${outcome}&limit=${limit}`);
      expect(items.map((item) => item.index)).toEqual(wanted);
      expect(new Set(items.map((item) => item.state))).toEqual(new Set([outcome]));
    }
  });

  it('say how each item ended', async () => {
    const [ok, rejected, review] = await all('limit=3');
    expect(ok).toMatchObject({ attempts: 1, result: { ran: 1 } });
    expect(rejected).toMatchObject({ attempts: 1, error: { code: 'hopeless', message: 'it will never work' } });
    expect(review).toMatchObject({ attempts: 1, reason: 'look at this', draft: { ran: 1 } });
    expect(await all('outcome=skipped')).toEqual([]);
  });

  it('refuse a query and a cursor that are none', async () => {
    for (const query of ['limit=0', 'limit=1001', 'outcome=done', 'outcome='])
      problem(await call(api.url, `/v1/jobs/${id}/items?${query}`), 'invalid_request');
    for (const path of ['items', 'log'])
      for (const cursor of ['x', '-1', ''])
        problem(await call(api.url, `/v1/jobs/${id}/${path}?after=${cursor}`), 'invalid_cursor');
  });
});
