import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { runPayload, type ItemReport, type RunPayloadOptions } from '../../testing';
import payload from './index';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const html = (body: string | Buffer, headers: Record<string, string> = {}): Handler => {
  return (_, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
};
const answer = (status: number, headers: Record<string, string> = {}): Handler => {
  return (_, response) => response.writeHead(status, headers).end('<title>no</title>');
};
/** Sends the head and half a page, then nothing. */
const stall: Handler = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).write('<title>half');
};

const routes: Record<string, Handler> = {
  '/page': html('<title>Café</title><link rel=canonical href=/canonical>'),
  '/latin1': html(Buffer.from('<title>Café</title>', 'latin1'), { 'content-type': 'text/html; charset=iso-8859-1' }),
  '/gzip': html(gzipSync('<title>packed</title>'), { 'content-encoding': 'gzip' }),
  '/bomb': html(gzipSync('x'.repeat(100_000)), { 'content-encoding': 'gzip' }),
  '/large': html('x'.repeat(100_000)),
  '/agent': (request, response) => html(`<title>${request.headers['user-agent']}</title>`)(request, response),
  '/json': (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  '/untyped': answer(200),
  '/moved': answer(301, { location: '/page?from=moved' }),
  '/loop': answer(302, { location: '/loop' }),
  '/to-file': answer(302, { location: 'file:///etc/passwd' }),
  '/to-nowhere': answer(302),
  '/404': answer(404),
  '/410': answer(410),
  '/500': answer(500),
  '/503': answer(503),
  '/503-later': answer(503, { 'retry-after': '7' }),
  '/429': answer(429),
  '/429-later': answer(429, { 'retry-after': '7' }),
  '/429-negative': answer(429, { 'retry-after': '-7' }),
  '/stall': stall,
  '/reset': (request) => request.socket.destroy(),
  '/cut': (request, response) => {
    stall(request, response);
    response.write('x', () => request.socket.destroy());
  },
};
for (let hop = 0; hop < 6; hop++)
  routes[`/hop${hop}`] = answer(307, { location: hop === 0 ? '/page' : `hop${hop - 1}` });

const server = createServer((request, response) => {
  routes[new URL(request.url ?? '', 'http://fixture').pathname]?.(request, response);
});
const before = getGlobalDispatcher();
const agent = new Agent();
let base: string;

beforeAll(async () => {
  setGlobalDispatcher(agent);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  setGlobalDispatcher(before);
  await agent.destroy();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

async function get(path: string, params: object = {}, options: RunPayloadOptions = {}): Promise<ItemReport> {
  const [report] = await runPayload(payload, [{ id: 'a', input: { url: base + path } }], { ...options, params });
  return report!;
}

test('a page in full', async () => {
  expect((await get('/page')).result).toEqual({
    url: `${base}/page`,
    finalUrl: `${base}/page`,
    status: 200,
    contentType: 'text/html; charset=utf-8',
    bytes: 56,
    title: 'Café',
    canonical: `${base}/canonical`,
  });
});

test('follows redirects, up to five', async () => {
  expect((await get('/moved')).result).toMatchObject({ url: `${base}/moved`, finalUrl: `${base}/page?from=moved` });
  expect((await get('/hop4')).result).toMatchObject({ finalUrl: `${base}/page`, title: 'Café' });
});

test.each([
  ['/latin1', 'Café', 19],
  ['/gzip', 'packed', 21],
  ['/agent', 'itemwise/0.1', 27],
])('%s has its title read', async (path, title, bytes) => {
  expect((await get(path)).result).toMatchObject({ title, bytes });
});

test.each([
  ['/404', 'http_404'],
  ['/410', 'http_410'],
  ['/json', 'not_html'],
  ['/untyped', 'not_html'],
  ['/large', 'too_large'],
  ['/bomb', 'too_large'],
  ['/hop5', 'too_many_redirects'],
  ['/loop', 'too_many_redirects'],
  ['/to-file', 'bad_redirect'],
  ['/to-nowhere', 'bad_redirect'],
])('%s is rejected as %s', async (path, code) => {
  expect(await get(path, { maxBytes: 50_000 })).toMatchObject({ state: 'failed', attempts: 1, error: { code } });
});

test.each([
  ['/500', 'http_500'],
  ['/503', 'http_503'],
  ['/reset', 'UND_ERR_SOCKET'],
  ['/cut', 'UND_ERR_SOCKET'],
])('%s is tried again, with code %s', async (path, code) => {
  expect(await get(path)).toMatchObject({ state: 'waiting', attempts: 1, error: { code } });
});

test.each([
  ['/429', 30_000],
  ['/429-later', 7_000],
  ['/429-negative', 30_000],
  ['/503-later', 7_000],
])('%s is deferred', async (path, after) => {
  const { state, attempts, due } = await get(path);
  expect({ state, attempts }).toEqual({ state: 'deferred', attempts: 0 });
  // The runner rounds up and spreads what is deferred, and the clock goes on.
  expect(due).toBeGreaterThan(after - 1_000);
  expect(due).toBeLessThan(after * 1.25 + 2_000);
});

test('a port where nobody listens is tried again', async () => {
  const gone = createServer();
  await new Promise<void>((listening) => gone.listen(0, '127.0.0.1', listening));
  const { port } = gone.address() as AddressInfo;
  await new Promise((closed) => gone.close(closed));
  routes['/to-gone'] = answer(302, { location: `http://127.0.0.1:${port}/` });
  expect(await get('/to-gone')).toMatchObject({
    state: 'waiting',
    error: { code: 'ECONNREFUSED', message: `no answer from 127.0.0.1:${port}: ECONNREFUSED` },
  });
});

test('a body that never ends runs into the timeout', async () => {
  expect(await get('/stall', { timeout: '50ms' })).toMatchObject({ state: 'waiting', error: { code: 'timeout' } });
});

test('a cancel in the middle of the body ends it at once, and counts no attempt', async () => {
  const cancel = new AbortController();
  routes['/cancel'] = (request, response) => {
    stall(request, response);
    cancel.abort();
  };
  expect(await get('/cancel', {}, { signal: cancel.signal })).toMatchObject({ state: 'skipped', attempts: 0 });
});

test.each(['', 'shop.example', 'ftp://shop.example', 'http://me:secret@shop.example', `http://a/${'x'.repeat(9_000)}`])(
  'the URL %j fails without an attempt',
  async (url) => {
    expect(await runPayload(payload, [{ id: 'a', input: { url } }])).toMatchObject([
      { state: 'failed', attempts: 0, error: { code: 'input_invalid', issues: [{ path: 'url' }] } },
    ]);
  },
);

test.each(['soon', 0, -1, '5m'])('the timeout %j is refused', async (timeout) => {
  await expect(get('/page', { timeout })).rejects.toThrow('timeout: not a duration up to 60s');
});

test('the defaults of the params', () => {
  expect(payload.params.parse({})).toEqual({ maxBytes: 2_097_152, timeout: '20s' });
});

test('says who it is', async () => {
  const { result } = await get('/agent', {}, { config: { userAgent: 'shop-bot/2' } });
  expect(result).toMatchObject({ title: 'shop-bot/2' });
});
