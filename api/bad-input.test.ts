import { gzipSync } from 'node:zlib';
import { BAD_ENV, BAD_JSON, BAD_NDJSON, picky, type BadSubmit } from './fixtures/bad-submits';
import { JSON_TYPE, NDJSON_TYPE, bodyOf, call, openRequest, post, problem, submit, type Answer } from './fixtures/http';
import { NOTHING, leftovers, openTestApi, type TestApi } from './fixtures/test-api';
import { scripted } from '../test/support/payloads';

const WITHIN_MS = 1_000;
const ITEM = { id: 'a', input: {} };

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi({ payloads: [scripted().payload, picky], env: BAD_ENV });
});
afterAll(() => api.stop());
afterEach(async () => expect(await leftovers(api)).toEqual(NOTHING));

const KINDS = {
  JSON: { headers: JSON_TYPE, path: '/v1/jobs', bad: BAD_JSON },
  NDJSON: { headers: NDJSON_TYPE, path: '/v1/jobs?capability=test.script@1', bad: BAD_NDJSON },
};

describe.each(Object.entries(KINDS))('%s', (_, { headers, path, bad }) => {
  const cases = Object.entries(bad);

  it.each(cases)('refuses %s', async (_name, { body, code, says = {} }) => {
    const answer = await call(api.url, path, { method: 'POST', headers, body });
    expect(problem(answer, code)).toMatchObject(says);
  });

  const early = cases.filter(([, { early }]) => early);

  it.each(early)('refuses %s while more is still being sent', async (_name, { body, code, says = {} }: BadSubmit) => {
    const request = openRequest(api.url, path, { headers });
    request.write(body);
    const at = performance.now();
    request.keepSending(() => ' \n');
    const answer = await request.answer;
    expect(performance.now() - at).toBeLessThan(WITHIN_MS);
    expect(problem(answer, code)).toMatchObject(says);
    request.destroy();
  });
});

it.each([
  [
    'JSON',
    JSON_TYPE,
    '/v1/jobs',
    '{"items":[{"id":"a","input":1},{"id":"a","input":1}',
    (n: number) => `,{"id":"${n}","input":1}`,
  ],
  [
    'NDJSON',
    NDJSON_TYPE,
    '/v1/jobs?capability=test.script@1',
    '{"id":"a","input":1}\n{"id":"a","input":1}\n',
    (n: number) => `{"id":"${n}","input":1}\n`,
  ],
])('refuses an id twice within the second, however slowly the %s comes', async (_, headers, path, begin, more) => {
  const request = openRequest(api.url, path, { headers });
  request.write(begin);
  const at = performance.now();
  let no = 0;
  request.keepSending(() => (no++ % 20 === 0 ? more(no) : ' '));
  expect(problem(await request.answer, 'duplicate_item_id')).toMatchObject({ positions: [1, 2] });
  expect(performance.now() - at).toBeLessThan(WITHIN_MS);
  request.destroy();
});

describe('the head of an NDJSON submit, in the query', () => {
  it.each([
    ['no capability', '', 'invalid_request'],
    ['a capability that is none', '?capability=no.such', 'unknown_capability'],
    ['a capability twice', '?capability=a&capability=b', 'invalid_request'],
    ['params that are not JSON', '?capability=test.script&params={', 'invalid_request'],
    ['params that do not fit', '?capability=test.picky&params={"mode":1}', 'invalid_params'],
    ['params that are nested deep', `?capability=test.script&params=${'['.repeat(70)}${']'.repeat(70)}`, 'too_deep'],
    ['options that do not fit', '?capability=test.script&options={"maxAttempts":1.5}', 'invalid_request'],
    ['labels that do not fit', '?capability=test.script&labels=[]', 'invalid_request'],
    ['a field that is none', '?capability=test.script&priority=1', 'invalid_request'],
    ['a field called __proto__', '?capability=test.script&__proto__={}', 'invalid_request'],
    ['items', '?capability=test.script&items=[]', 'invalid_request'],
  ] as const)('is refused with %s before any of the body is there', async (_, query, code) => {
    const request = openRequest(api.url, `/v1/jobs${encodeURI(query)}`, { headers: NDJSON_TYPE });
    request.flushHeaders();
    problem(await request.answer, code);
    request.destroy();
  });
});

describe('what is not JSON or NDJSON', () => {
  it.each([
    ['no content type', {}],
    ['text/plain', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['something like JSON', { 'content-type': 'application/jsonp' }],
    ['gzip', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    ['gzip after nothing', { ...JSON_TYPE, 'content-encoding': 'identity, gzip' }],
    ['br', { ...JSON_TYPE, 'content-encoding': 'br' }],
  ])('is refused: %s', async (_, headers) => {
    const answer = await call(api.url, '/v1/jobs', { method: 'POST', headers, body: bodyOf([ITEM]) });
    problem(answer, 'unsupported_media_type');
  });

  it('is refused while it is still being sent', async () => {
    const request = openRequest(api.url, '/v1/jobs', { headers: { 'content-type': 'text/plain' } });
    request.keepSending(() => 'x');
    problem(await request.answer, 'unsupported_media_type');
    request.destroy();
  });
});

it('does not inflate a gzip bomb, whatever its content type says', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  problem(await post(api.url, bomb, { 'content-encoding': 'gzip' }), 'unsupported_media_type');
  problem(await post(api.url, bomb), 'invalid_json');
  const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  expect(after - before).toBeLessThan(25_000_000);
});

it('refuses a body over the limit by its declared length, before any of it is there', async () => {
  const request = openRequest(api.url, '/v1/jobs', { headers: { ...JSON_TYPE, 'content-length': '3000001' } });
  request.flushHeaders();
  problem(await request.answer, 'body_too_large');
  request.destroy();
});

describe('what looks alike and is not', () => {
  const accept = async (items: object[]): Promise<void> => {
    const job = await submit(api.url, items);
    expect(job.items).toBe(items.length);
    await remove(job.id);
  };

  it('takes ids that differ in case, in normal form or in white space', async () => {
    const ids = ['a', 'A', '\u00e9', 'e\u0301', '7', '07', ' 7', '7 ', '\ufeff7'];
    await accept(ids.map((id) => ({ id, input: 1 })));
  });

  it('takes an id of exactly 256 bytes', async () => {
    await accept([{ id: 'x'.repeat(256), input: 1 }]);
    await accept([{ id: `${'€'.repeat(85)}x`, input: 1 }]);
  });

  it('takes a job of exactly the items that are allowed', async () => {
    await accept(Array.from({ length: 2_500 }, (_, index) => ({ id: `${index}`, input: 1 })));
  });

  it('takes an input that is nested exactly 64 deep, and one of exactly 1 MB', async () => {
    let nested: unknown = [];
    for (let level = 1; level < 64; level++) nested = [nested];
    await accept([{ id: 'a', input: nested }]);
    await accept([{ id: 'a', input: 'x'.repeat(999_998) }]);
  });

  it('takes a content type in any case, with parameters', async () => {
    const answer: Answer = await post(api.url, bodyOf([ITEM]), { 'content-type': 'Application/JSON; charset=utf-8' });
    expect(answer.status).toBe(202);
    await remove((JSON.parse(answer.text) as { id: string }).id);
  });
});

/** Ends a job of which nothing was done, and removes it and its rows. */
async function remove(id: string): Promise<void> {
  const job = (await api.store.job(id, 'default'))!;
  await api.store.endCancelled(job.no);
  await api.store.finalize(job.no, 0);
  await api.store.deleteJob(job.no);
  await api.store.dropUpload(job.no);
}
