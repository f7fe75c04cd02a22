import { gzipSync } from 'node:zlib';
import { JSON_TYPE, NDJSON_TYPE, bodyOf, call, openRequest, problem, submit } from '../../api/fixtures/http';
import { NOTHING, leftovers, openTestApi, type TestApi } from '../../api/fixtures/test-api';
import type { ProblemCode } from '../../api/problems';

jest.setTimeout(60_000);

const MB = 1_000_000;
/** A bad body is refused within a second of the byte that makes it bad. */
const WITHIN_MS = 1_000;
/** What a refusal may take beside what a client has sent and the API has not read yet, bytes. */
const MEMORY = 40 * MB;

const ITEMS = '{"capability":"test.script@1","items":[';
const deep = (levels: number, open: string, close: string): string => open.repeat(levels) + close.repeat(levels);
const nested = (input: string): string => `${ITEMS}{"id":"a","input":${input}}]}`;
const bomb = (): Buffer => gzipSync(Buffer.alloc(200 * MB, ' '));

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi({ env: { ITEMWISE_MAX_BODY_BYTES: String(50 * MB) } });
});
afterAll(() => api.stop());
afterEach(async () => {
  expect(await leftovers(api)).toEqual(NOTHING);
  // It serves the next one.
  expect((await call(api.url, '/health/live')).status).toBe(200);
});

const held = (): number => {
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
};

interface Bad {
  readonly body: string | Buffer;
  readonly code: ProblemCode;
  readonly headers?: Record<string, string>;
  readonly path?: string;
}

const NDJSON = { headers: NDJSON_TYPE, path: '/v1/jobs?capability=test.script@1' };

const BAD: Readonly<Record<string, Bad>> = {
  'arrays nested 10,000 deep': { body: nested(deep(10_000, '[', ']')), code: 'too_deep' },
  'arrays nested 10,000 deep, never closed': { body: nested('['.repeat(10_000)), code: 'too_deep' },
  'objects nested 10,000 deep': { body: nested(deep(10_000, '{"a":', '}')), code: 'too_deep' },
  'a line nested 10,000 deep': { body: `{"id":"a","input":${deep(10_000, '[', ']')}}\n`, code: 'too_deep', ...NDJSON },
  'params nested 10,000 deep': { body: `{"params":${deep(10_000, '[', ']')}}`, code: 'too_deep' },
  'JSON that is cut off': { body: bodyOf([{ id: 'a', input: {} }]).slice(0, -4), code: 'truncated_body' },
  'JSON that is cut off in an escape': { body: `${ITEMS}{"id":"a\\u00`, code: 'truncated_body' },
  'a line that is cut off': { body: '{"id":"a","input":{}}\n{"id":"b"', code: 'invalid_line', ...NDJSON },
  'a gzip bomb that says so': { body: bomb(), code: 'unsupported_media_type', headers: { 'content-encoding': 'gzip' } },
  'a gzip bomb that does not': { body: bomb(), code: 'invalid_json' },
  'a gzip bomb of lines': { body: bomb(), code: 'invalid_line', ...NDJSON },
};

describe('C33: recursion and the size of a body', () => {
  it.each(Object.entries(BAD))('C33: %s is refused within a second, with nothing left of it', async (_, bad) => {
    const { body, code, headers = {}, path = '/v1/jobs' } = bad;
    const before = held();
    const at = performance.now();
    const answer = await call(api.url, path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body });
    expect(performance.now() - at).toBeLessThan(WITHIN_MS);
    expect(problem(answer, code).status).toBeLessThan(500);
    expect(held() - before).toBeLessThan(MEMORY);
  });

  it.each([
    ['one item of 60 MB', `${ITEMS}{"id":"a","input":"`, 'x', 'item_too_large'],
    ['one line of 60 MB', '{"id":"a","input":"', 'x', 'item_too_large'],
    ['white space of 60 MB', '', ' ', 'body_too_large'],
    ['a field of 60 MB', '{"params":{"a":"', 'x', 'body_too_large'],
    ['the name of a field of 60 MB', '{"', 'x', 'body_too_large'],
  ] as const)('C33: %s is refused on the way, and not held in memory', async (what, begin, filling, code) => {
    const { headers, path } = what.includes('line') ? NDJSON : { headers: JSON_TYPE, path: '/v1/jobs' };
    const before = held();
    const request = openRequest(api.url, path, { headers });
    let [over, most] = [false, 0];
    const answer = request.answer.finally(() => (over = true));
    request.write(begin);
    const piece = Buffer.alloc(MB, filling);
    for (let sent = 0; sent < 60 && !over; sent++) {
      request.write(piece);
      // The reader has its turn: what it has not read is not its fault.
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, held() - before);
    }
    expect(problem(await answer, code).status).toBeLessThan(500);
    // The pieces that this test has sent are one buffer; what was held beside it is the API's.
    expect(most).toBeLessThan(MEMORY);
    request.destroy();
  });

  it('C33: a body that declares 60 MB is refused before any of it is there', async () => {
    const headers = { ...JSON_TYPE, 'content-length': String(60 * MB) };
    const request = openRequest(api.url, '/v1/jobs', { headers });
    const at = performance.now();
    request.flushHeaders();
    problem(await request.answer, 'body_too_large');
    expect(performance.now() - at).toBeLessThan(WITHIN_MS);
    request.destroy();
  });

  it('C33: what is bad at its end takes the good items before it along', async () => {
    const good = Array.from({ length: 3_000 }, (_, i) => ({ id: `i${i}`, input: {} }));
    const body = `${bodyOf(good).slice(0, -2)},{"id":"bad","input":${deep(10_000, '[', ']')}}]}`;
    problem(await call(api.url, '/v1/jobs', { method: 'POST', headers: JSON_TYPE, body }), 'too_deep');
  });

  it('C33: requests other than a submit are as careful', async () => {
    const job = await submit(api.url, [{ id: 'a', input: {} }]);
    const body = `{"labels":${deep(10_000, '[', ']')}}`;
    const answer = await call(api.url, `/v1/jobs/${job.id}/retry`, { method: 'POST', headers: JSON_TYPE, body });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    const { no } = (await api.store.job(job.id, 'default'))!;
    await api.store.endCancelled(no);
    await api.store.finalize(no, 0);
    await api.store.deleteJob(no);
    await api.store.dropUpload(no);
  });
});
