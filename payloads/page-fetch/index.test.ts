import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import type { Context } from '../../contract';
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

async function get(path: string, params: object = {}, signal = new AbortController().signal): Promise<unknown> {
  const item = { id: 'a', input: payload.input.parse({ url: base + path }) };
  const ctx = { item, params: payload.params.parse(params), config: payload.config.parse({}), signal };
  return payload.result.parse(await payload.run?.(item, ctx as unknown as Context));
}

test('a page in full', async () => {
  expect(await get('/page')).toEqual({
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
  expect(await get('/moved')).toMatchObject({ url: `${base}/moved`, finalUrl: `${base}/page?from=moved` });
  expect(await get('/hop4')).toMatchObject({ finalUrl: `${base}/page`, title: 'Café' });
});

test.each([
  ['/latin1', 'Café', 19],
  ['/gzip', 'packed', 21],
  ['/agent', 'itemwise/0.1', 27],
])('%s has its title read', async (path, title, bytes) => {
  expect(await get(path)).toMatchObject({ title, bytes });
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
  await expect(get(path, { maxBytes: 50_000 })).rejects.toMatchObject({ name: 'Reject', code });
});

test.each([
  ['/500', 'http_500'],
  ['/503', 'http_503'],
  ['/reset', 'UND_ERR_SOCKET'],
  ['/cut', 'UND_ERR_SOCKET'],
])('%s is a plain error with code %s', async (path, code) => {
  await expect(get(path)).rejects.toMatchObject({ name: 'Error', code });
});

test.each([
  ['/429', 30_000],
  ['/429-later', 7_000],
  ['/429-negative', 30_000],
  ['/503-later', 7_000],
])('%s is deferred', async (path, after) => {
  await expect(get(path)).rejects.toMatchObject({ name: 'Defer', when: { after } });
});

test('a port where nobody listens is a plain error', async () => {
  const gone = createServer();
  await new Promise<void>((listening) => gone.listen(0, '127.0.0.1', listening));
  const { port } = gone.address() as AddressInfo;
  await new Promise((closed) => gone.close(closed));
  routes['/to-gone'] = answer(302, { location: `http://127.0.0.1:${port}/` });
  await expect(get('/to-gone')).rejects.toMatchObject({
    code: 'ECONNREFUSED',
    message: `no answer from 127.0.0.1:${port}: ECONNREFUSED`,
  });
});

test('a body that never ends runs into the timeout', async () => {
  await expect(get('/stall', { timeout: '50ms' })).rejects.toMatchObject({ name: 'Error', code: 'timeout' });
});

test('an abort in the middle of the body is rethrown as it is', async () => {
  const controller = new AbortController();
  const reason = new Error('the job was cancelled');
  routes['/abort'] = (request, response) => {
    stall(request, response);
    controller.abort(reason);
  };
  await expect(get('/abort', {}, controller.signal)).rejects.toBe(reason);
});

test('a bad URL or timeout is caught by the schemas', () => {
  for (const url of [
    '',
    'shop.example',
    'ftp://shop.example',
    'http://me:secret@shop.example',
    `http://a/${'x'.repeat(9_000)}`,
  ]) {
    expect(payload.input.safeParse({ url }).success).toBe(false);
  }
  for (const timeout of ['soon', 0, -1, '5m']) expect(payload.params.safeParse({ timeout }).success).toBe(false);
  expect(payload.params.parse({})).toEqual({ maxBytes: 2_097_152, timeout: '20s' });
});
