import { until } from '../test/support/rig';
import { JSON_TYPE, NDJSON_TYPE, bodyOf, call, get, json, openRequest, post, problem, submit } from './fixtures/http';
import { leftovers, openTestApi, type TestApi } from './fixtures/test-api';
import { jobSchema, jobsPageSchema } from './schemas';

const ITEMS = [
  { id: 'a', input: {} },
  { id: 'b', input: {} },
];
const KEY = { 'idempotency-key': 'order 7' };

let api: TestApi;
beforeEach(async () => {
  api = await openTestApi();
});
afterEach(() => api.stop());

async function jobIds(): Promise<string[]> {
  return (await get(api.url, '/v1/jobs?limit=1000', jobsPageSchema)).jobs.map((job) => job.id);
}

/** Of each job its rows, and of nothing else. */
async function expectRows(jobs: number, items: number): Promise<void> {
  expect(await leftovers(api)).toEqual({ jobs, uploads: [], items });
}

it('gives the same job for the same key and body', async () => {
  const first = await submit(api.url, ITEMS, {}, KEY);
  expect((await submit(api.url, ITEMS, {}, KEY)).id).toBe(first.id);
  expect(await jobIds()).toEqual([first.id]);
  await expectRows(1, 2);
});

it('gives a job of its own to each key, and to each submit without one', async () => {
  const ids = new Set<string>();
  for (const headers of [KEY, { 'idempotency-key': 'order 8' }, {}, {}])
    ids.add((await submit(api.url, ITEMS, {}, headers)).id);
  expect(ids.size).toBe(4);
});

it('gives the job as it is by now, not as it was', async () => {
  const { id } = await submit(api.url, ITEMS, {}, KEY);
  await api.store.pause((await api.store.job(id, 'default'))!.no);
  expect(await submit(api.url, ITEMS, {}, KEY)).toMatchObject({ id, state: 'paused' });
});

it.each([
  ['another item', bodyOf([...ITEMS, { id: 'c', input: {} }])],
  ['other labels', bodyOf(ITEMS, { labels: { a: 'b' } })],
  ['white space', `${bodyOf(ITEMS)} `],
])('refuses the key with another body: %s', async (_, body) => {
  const first = await submit(api.url, ITEMS, {}, KEY);
  expect(problem(await post(api.url, body, KEY), 'idempotency_conflict').detail).toContain('"order 7"');
  expect(await jobIds()).toEqual([first.id]);
  await expectRows(1, 2);
});

it('takes the same items as JSON and as NDJSON for two bodies', async () => {
  await submit(api.url, ITEMS, {}, KEY);
  const body = ITEMS.map((item) => JSON.stringify(item)).join('\n');
  const headers = { ...NDJSON_TYPE, ...KEY };
  const options = { method: 'POST', headers, body };
  problem(await call(api.url, '/v1/jobs?capability=test.script@1', options), 'idempotency_conflict');
  await expectRows(1, 2);
});

it('takes NDJSON with another query for another body, and with the same for the same', async () => {
  const body = ITEMS.map((item) => JSON.stringify(item)).join('\n');
  const send = (query: string) =>
    call(api.url, `/v1/jobs?capability=test.script${query}`, {
      method: 'POST',
      headers: { ...NDJSON_TYPE, ...KEY },
      body,
    });
  const first = json(await send(''), jobSchema, 202);
  expect(json(await send(''), jobSchema, 202).id).toBe(first.id);
  problem(await send('&options=%7B%22concurrency%22%3A1%7D'), 'idempotency_conflict');
});

it('gives the same job for a body that comes in other pieces', async () => {
  const first = await submit(api.url, ITEMS, {}, KEY);
  const request = openRequest(api.url, '/v1/jobs', { headers: { ...JSON_TYPE, ...KEY } });
  for (const char of bodyOf(ITEMS)) request.write(char);
  request.end();
  expect(json(await request.answer, jobSchema, 202).id).toBe(first.id);
});

it.each([
  ['no value', ''],
  ['257 characters', 'x'.repeat(257)],
])('refuses a key with %s', async (_, key) => {
  problem(await post(api.url, bodyOf(ITEMS), { 'idempotency-key': key }), 'invalid_request');
  await expectRows(0, 0);
});

it('makes one job of 20 submits at once over two servers', async () => {
  const urls = [api.url, await api.second()];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => post(urls[index % 2]!, bodyOf(ITEMS), KEY)),
  );
  const ids = new Set(answers.map((answer) => json(answer, jobSchema, 202).id));
  expect([...ids]).toEqual(await jobIds());
  expect(api.uploads).toHaveLength(20);
  await expectRows(1, 2);
});

it('makes one job of 20 different bodies at once over two servers, and refuses the others', async () => {
  const urls = [api.url, await api.second()];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => post(urls[index % 2]!, bodyOf([{ id: `${index}`, input: 1 }]), KEY)),
  );
  const made = answers.filter((answer) => answer.status === 202);
  expect(made).toHaveLength(1);
  for (const answer of answers) if (answer !== made[0]) problem(answer, 'idempotency_conflict');
  await expectRows(1, 1);
});

describe('a client that goes away and tries again', () => {
  it('gets its first job when it went half way', async () => {
    const request = openRequest(api.url, '/v1/jobs', { headers: { ...JSON_TYPE, ...KEY } });
    request.write(bodyOf(ITEMS).slice(0, -10));
    await until(api.store, () => api.uploads.length === 1, 'the upload has begun');
    request.destroy();
    await expect(request.answer).rejects.toThrow();
    const { id } = await submit(api.url, ITEMS, {}, KEY);
    expect(await jobIds()).toEqual([id]);
    await until(api.store, async () => (await leftovers(api)).uploads.length === 0, 'the first upload is dropped');
    await expectRows(1, 2);
  });

  it('gets the job that was made when it did not hear the answer', async () => {
    const request = openRequest(api.url, '/v1/jobs', { headers: { ...JSON_TYPE, ...KEY } });
    request.end(bodyOf(ITEMS));
    await until(api.store, async () => (await leftovers(api)).jobs === 1, 'the job is made');
    request.destroy();
    await request.answer.catch(() => undefined);
    const { id } = await submit(api.url, ITEMS, {}, KEY);
    expect(await jobIds()).toEqual([id]);
    await expectRows(1, 2);
  });
});
