import http, { type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { definePayload, z } from '../../contract';
import { StoreUnavailable, type ItemView, type Store } from '../../store';
import { itemsOf, until } from '../../test/support/rig';
import { echo } from '../fixtures/echo';
import { call, ended, get, problem, submit } from '../fixtures/http';
import { openTestApi, type TestApi } from '../fixtures/test-api';
import { itemViewSchema, jobSchema, type ItemJson } from '../schemas';

const apis: TestApi[] = [];
async function open(...options: Parameters<typeof openTestApi>): Promise<TestApi> {
  const api = await openTestApi(...options);
  apis.push(api);
  return api;
}
afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
});

async function results(url: string, id: string, query = ''): Promise<ItemJson[]> {
  const answer = await call(url, `/v1/jobs/${id}/results${query}`);
  expect(answer.headers['content-type']).toMatch(/^application\/x-ndjson/);
  expect(answer.text).toMatch(/^$|\n$/);
  return answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => itemViewSchema.parse(JSON.parse(line)));
}

/** The first bytes of an answer of which nothing more is read. */
function openResults(url: string, id: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => http.get(`${url}/v1/jobs/${id}/results`, resolve).on('error', reject));
}

/** A store that has `count` ended items of `chars` characters in every job, and says when a page of them was read. */
function bigStore(count: number, chars: number, onPage: (limit: number) => void): (store: Store) => Store {
  const result = 'x'.repeat(chars);
  const view = (index: number): ItemView => ({
    index,
    id: `i${index}`,
    state: 'succeeded',
    attempts: 1,
    body: { result },
    finishedAt: 1,
    parked: null,
    wait: null,
    progress: null,
  });
  return (store) => ({
    ...store,
    items: (_job, { after, limit }) => {
      onPage(limit);
      const length = Math.max(0, Math.min(limit, count - 1 - after));
      return Promise.resolve(Array.from({ length }, (_, offset) => view(after + 1 + offset)));
    },
  });
}

/** So many answers of other requests: time enough for a server that does not wait for its reader. */
async function otherAnswers(url: string, id: string): Promise<void> {
  for (let no = 0; no < 100; no++) await get(url, `/v1/jobs/${id}`, jobSchema);
}

it('gives 20,000 outcomes, a line each, in the order of the upload', async () => {
  const api = await open({ payloads: [echo], worker: true });
  const { id } = await submit(
    api.url,
    itemsOf(20_000, (index) => index),
    { capability: 'test.echo' },
  );
  await ended(api.url, id);
  const lines = await results(api.url, id);
  expect(lines).toHaveLength(20_000);
  lines.forEach((item, index) => {
    if (item.index !== index || item.id !== `i${index}`) throw new Error(`line ${index} is of item ${item.id}`);
    expect(item.result).toEqual({ was: index });
  });
}, 60_000);

it('gives what there is while the job runs, and only that', async () => {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const some = definePayload({
    name: 'test.some',
    version: 1,
    vocabulary: [],
    input: z.object({ held: z.boolean() }),
    result: z.unknown(),
    run: async (item) => {
      if (item.input.held) await gate;
      return 'done';
    },
  });
  const api = await open({ payloads: [some], worker: true });
  const items = itemsOf(6, (index) => ({ held: index % 2 === 0 }));
  const { id } = await submit(api.url, items, { capability: 'test.some' });
  const ids = async (query = ''): Promise<string[]> => (await results(api.url, id, query)).map((item) => item.id);
  await until(api.store, async () => (await ids()).length === 3, 'those that are not held have ended');
  expect(await ids()).toEqual(['i1', 'i3', 'i5']);
  expect(await ids('?outcome=failed')).toEqual([]);
  release();
  await ended(api.url, id);
  expect(await ids('?outcome=succeeded')).toEqual(['i0', 'i1', 'i2', 'i3', 'i4', 'i5']);
});

it('refuses an outcome that is none', async () => {
  const api = await open();
  const { id } = await submit(api.url, itemsOf(1));
  problem(await call(api.url, `/v1/jobs/${id}/results?outcome=pending`), 'invalid_request');
});

describe('a reader that is slow', () => {
  const COUNT = 20_000;
  const CHARS = 20_000;

  it('sets the pace: no more is read from the store than it takes', async () => {
    let read = 0;
    const api = await open({ wrapStore: bigStore(COUNT, CHARS, (limit) => (read += limit)) });
    const { id } = await submit(api.url, itemsOf(1));
    const warnings: string[] = [];
    const note = (warning: Error): number => warnings.push(warning.message);
    process.on('warning', note);
    const rss = process.memoryUsage().rss;
    const response = await openResults(api.url, id);
    await otherAnswers(api.url, id);
    expect(read).toBeLessThan(COUNT / 10);
    // All of it is 400 MB.
    expect(process.memoryUsage().rss - rss).toBeLessThan(100_000_000);
    let lines = 0;
    for await (const line of createInterface({ input: response })) {
      if (line.length < CHARS) throw new Error(`line ${lines} is short`);
      // Now and then it stops: the server has waited for it dozens of times at the end.
      if (++lines % 500 === 0) await get(api.url, `/v1/jobs/${id}`, jobSchema);
    }
    expect(lines).toBe(COUNT);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  }, 60_000);

  it('that goes away ends the reading', async () => {
    let read = 0;
    const api = await open({ wrapStore: bigStore(COUNT, CHARS, (limit) => (read += limit)) });
    const { id } = await submit(api.url, itemsOf(1));
    const response = await openResults(api.url, id);
    await otherAnswers(api.url, id);
    const before = read;
    const gone = new Promise((resolve) => response.on('close', resolve));
    response.on('error', () => undefined);
    response.destroy();
    await gone;
    await otherAnswers(api.url, id);
    expect(read - before).toBeLessThan(COUNT / 100);
  });
});

it('reads few large results at a time, and many small ones', async () => {
  const limits: number[] = [];
  const big = await open({ wrapStore: bigStore(60, 1_000_000, (limit) => limits.push(limit)) });
  await results(big.url, (await submit(big.url, itemsOf(1))).id);
  expect(limits[0]).toBeLessThanOrEqual(20);
  expect(Math.max(...limits.slice(1))).toBe(1);
  limits.length = 0;
  const small = await open({ wrapStore: bigStore(5_000, 10, (limit) => limits.push(limit)) });
  expect(await results(small.url, (await submit(small.url, itemsOf(1))).id)).toHaveLength(5_000);
  expect(limits.length).toBeLessThan(20);
});

describe('a store that goes away', () => {
  const failing = (page: number): ((store: Store) => Store) => {
    const wrap = bigStore(1_000, 100, () => undefined);
    let pages = 0;
    return (store) => {
      const whole = wrap(store);
      const away = new StoreUnavailable('it is away');
      return { ...whole, items: (...args) => (++pages === page ? Promise.reject(away) : whole.items(...args)) };
    };
  };

  it('before the first line is a problem', async () => {
    const api = await open({ wrapStore: failing(1) });
    const { id } = await submit(api.url, itemsOf(1));
    const answer = await call(api.url, `/v1/jobs/${id}/results`);
    problem(answer, 'store_unavailable');
    expect(answer.headers['retry-after']).toBe('5');
  });

  it('after it breaks the answer off, so that nobody takes it for whole', async () => {
    const api = await open({ wrapStore: failing(3) });
    const { id } = await submit(api.url, itemsOf(1));
    await expect(call(api.url, `/v1/jobs/${id}/results`)).rejects.toThrow('aborted');
  });
});
