import http from 'node:http';
import { z } from 'zod';
import { StoreUnavailable } from '../store';
import { bodyOf, call, get, openRequest, post, problem, submit } from './fixtures/http';
import { openTestApi, type TestApi } from './fixtures/test-api';
import { healthSchema } from './schemas';

const ITEM = { id: 'a', input: {} };

describe('routes', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await openTestApi();
  });
  afterAll(() => api.stop());

  it.each(['/', '/v1', '/v1/job', '/v1/jobs/a/b', '/v2/jobs', '/health', '/favicon.ico', '/v1/jobs/a/items/b/c'])(
    'that are none answer not_found: %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) problem(await call(api.url, path, { method }), 'not_found');
    },
  );

  it.each([
    ['DELETE', '/v1/jobs', 'POST, GET'],
    ['PUT', '/v1/jobs', 'POST, GET'],
    ['PATCH', '/v1/jobs/x', 'GET, DELETE'],
    ['POST', '/v1/jobs/x', 'GET, DELETE'],
    ['GET', '/v1/jobs/x/cancel', 'POST'],
    ['DELETE', '/v1/jobs/x/pause', 'POST'],
    ['POST', '/v1/jobs/x/items/a%2Fb', 'GET'],
    ['POST', '/openapi.json', 'GET'],
    ['POST', '/health/live', 'GET'],
  ])('that do not take %s say so: %s', async (method, path, allow) => {
    const answer = await call(api.url, path, { method });
    problem(answer, 'method_not_allowed');
    expect(answer.headers.allow).toBe(allow);
  });

  it.each(['/v1/jobs/%zz', '/v1/jobs/%', '/v1/jobs/%ff', '/v1/jobs/x/items/%E0%A4%A', '/%zz'])(
    'whose percent-encoding is broken answer not_found: %s',
    async (path) => {
      problem(await call(api.url, path), 'not_found');
    },
  );

  it('answer HEAD like GET, with no body', async () => {
    const answer = await call(api.url, '/health/live', { method: 'HEAD' });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  it('carry the request id that was given, if it is one, and else a new one', async () => {
    const given = await call(api.url, '/health/live', { headers: { 'x-request-id': 'trace-1.2_3' } });
    expect(given.headers['x-request-id']).toBe('trace-1.2_3');
    for (const bad of ['', 'a b', '<script>', 'x'.repeat(101)]) {
      const answer = await call(api.url, '/v1/nothing', { headers: { 'x-request-id': bad } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      problem(answer, 'not_found');
    }
  });

  it('do not say what the server is made of', async () => {
    const { headers } = await call(api.url, '/health/live');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('server');
  });
});

describe('a failure of ours', () => {
  it('of the store is a 503 that says when to try again', async () => {
    const away = (): Promise<never> => Promise.reject(new StoreUnavailable('the database stayed locked for 5000 ms'));
    const api = await openTestApi({ wrapStore: (store) => ({ ...store, job: away, jobs: away, openUpload: away }) });
    for (const answer of [
      await call(api.url, '/v1/jobs/x'),
      await call(api.url, '/v1/jobs'),
      await post(api.url, bodyOf([ITEM])),
    ]) {
      problem(answer, 'store_unavailable');
      expect(answer.headers['retry-after']).toBe('5');
    }
    await api.stop();
  });

  it('of any other kind tells the log what it is, and the caller where to look', async () => {
    const broken = (): Promise<never> => Promise.reject(new Error('column "secret_column" does not exist'));
    const api = await openTestApi({ wrapStore: (store) => ({ ...store, job: broken }) });
    const answer = await call(api.url, '/v1/jobs/x');
    const { requestId } = problem(answer, 'internal');
    expect(answer.text).not.toContain('secret_column');
    const line = api.log.find((entry) => entry.includes('secret_column'));
    expect(JSON.parse(line!)).toMatchObject({ requestId, msg: 'a request failed' });
    await api.stop();
  });

  it('while an upload is under way leaves nothing of it that can be seen', async () => {
    let writes = 0;
    const api = await openTestApi({
      wrapStore: (store) => ({
        ...store,
        seal: () => Promise.reject(new StoreUnavailable('it is away')),
        addItems: (...args) => {
          writes++;
          return store.addItems(...args);
        },
      }),
    });
    problem(await post(api.url, bodyOf([ITEM])), 'store_unavailable');
    expect(writes).toBe(1);
    expect(await api.store.jobs({ tenant: 'default', limit: 10 })).toEqual([]);
    expect(await api.store.brokenUploads(Number.MAX_SAFE_INTEGER)).toEqual([]);
    await api.stop();
  });
});

describe('the log', () => {
  const SECRET = 'Bearer s3cr3t-0f-the-caller';

  it('has a line for each request, and no header, query or body of it', async () => {
    const api = await openTestApi();
    const headers = { authorization: SECRET, cookie: SECRET, 'x-api-key': SECRET, 'idempotency-key': 'k' };
    const { id } = await submit(api.url, [ITEM], {}, headers);
    await submit(api.url, [ITEM, { id: SECRET, input: SECRET }], {}, { authorization: SECRET });
    await call(api.url, `/v1/jobs/${id}?token=${encodeURIComponent(SECRET)}`, { headers });
    await post(api.url, `{"password":"${SECRET}" oops`, headers);
    await call(api.url, '/v1/nothing', { headers });
    await call(api.url, '/v1/jobs/%zz', { headers });
    await api.stop();
    const lines = api.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter((line) => line['msg'] === 'request').map((line) => line['status'])).toEqual([
      202, 202, 200, 400, 404, 404,
    ]);
    expect(api.log.join('')).not.toContain('s3cr3t');
  });

  it('has no header of a request that failed, whatever failed', async () => {
    const broken = (): Promise<never> => Promise.reject(new Error('it broke'));
    const api = await openTestApi({ wrapStore: (store) => ({ ...store, job: broken, openUpload: broken }) });
    const headers = { authorization: SECRET };
    problem(await call(api.url, '/v1/jobs/x', { headers }), 'internal');
    problem(await post(api.url, bodyOf([ITEM]), headers), 'internal');
    await api.stop();
    expect(api.log.filter((line) => line.includes('it broke'))).toHaveLength(2);
    expect(api.log.join('')).not.toContain('s3cr3t');
  });
});

describe('a server that stops', () => {
  it('answers the submit that is under way, takes no other, and is done then', async () => {
    const api = await openTestApi();
    const agent = new http.Agent({ keepAlive: true });
    // A connection that is kept and idle does not hold the stop up.
    await call(api.url, '/health/live', { agent });
    const body = bodyOf([ITEM]);
    const request = openRequest(api.url, '/v1/jobs', { headers: { 'content-type': 'application/json' }, agent });
    request.write(body.slice(0, 20));
    await get(api.url, '/health/live', healthSchema);
    const stopped = api.stopApi();
    await expect(call(api.url, '/health/live', { agent: new http.Agent() })).rejects.toThrow(/ECONNREFUSED/);
    request.end(body.slice(20));
    const answer = await request.answer;
    const at = performance.now();
    expect(answer.status).toBe(202);
    await stopped;
    expect(performance.now() - at).toBeLessThan(1_000);
    const { id } = z.object({ id: z.string() }).parse(JSON.parse(answer.text));
    expect(await api.store.job(id, 'default')).toMatchObject({ id, items: 1 });
    agent.destroy();
    await api.stop();
  });

  it('cuts what is still busy after its patience', async () => {
    const api = await openTestApi();
    const request = openRequest(api.url, '/v1/jobs', { headers: { 'content-type': 'application/json' } });
    request.write('{"items":[');
    await get(api.url, '/health/live', healthSchema);
    const at = performance.now();
    await Promise.all([api.stopApi(), expect(request.answer).rejects.toThrow()]);
    expect(performance.now() - at).toBeLessThan(6_000);
    await api.stop();
  }, 10_000);

  it('does not start where its port is taken, and says what to do', async () => {
    const api = await openTestApi();
    const { port } = new URL(api.url);
    await expect(openTestApi({ env: { ITEMWISE_PORT: port } })).rejects.toThrow(
      /port \d+ of 127.0.0.1 is taken.*ITEMWISE_PORT/,
    );
    await api.stop();
  });
});
