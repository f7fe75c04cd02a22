import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { FeedVendor } from './vendor';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** How the vendor under test behaves; what cannot be had of the fixture vendor. */
let handler: Handler;
const server = createServer((request, response) => handler(request, response));
const says = (status: number, body: unknown, headers: Record<string, string> = {}): Handler => {
  return (_, response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
};

const before = getGlobalDispatcher();
const agent = new Agent();
let baseUrl: string;
beforeAll(async () => {
  setGlobalDispatcher(agent);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  setGlobalDispatcher(before);
  await agent.destroy();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const entry = { sku: 'a-1', title: 'A lamp', price: 19.9, currency: 'EUR', feed: 'shop' };
const warn = jest.fn();
const log = { info: jest.fn(), warn, error: jest.fn() };
const never = new AbortController().signal;
const submit = (signal = never): Promise<string> => new FeedVendor({ baseUrl }).submit(entry, 'k-1', signal);

test('a submission bears its key, the entry and who asks, below the base URL', async () => {
  const heard: unknown[] = [];
  handler = (request, response) => {
    const { method, url, headers } = request;
    const { authorization, 'idempotency-key': key, 'content-type': type } = headers;
    request.on('data', (body: Buffer) => heard.push(JSON.parse(body.toString())));
    request.on('end', () => {
      heard.push({ method, url, authorization, key, type });
      says(201, { id: 'sub-1' })(request, response);
    });
  };
  const vendor = new FeedVendor({ baseUrl: `${baseUrl}/api/`, apiKey: 'secret' });
  expect(await vendor.submit(entry, 'k-1', never)).toBe('sub-1');
  const head = { method: 'POST', url: '/api/submissions', authorization: 'Bearer secret', key: 'k-1' };
  expect(heard).toEqual([entry, { ...head, type: 'application/json' }]);
});

test('a submission is looked up by its key, whatever is in it', async () => {
  handler = (request, response) => {
    const key = new URL(request.url ?? '', baseUrl).searchParams.get('key');
    (key === 'k&1' ? says(200, { id: 'sub-1' }) : says(404, {}))(request, response);
  };
  const vendor = new FeedVendor({ baseUrl });
  expect(await vendor.find('k&1', never)).toEqual({ state: 'done', result: 'sub-1' });
  expect(await vendor.find('k', never)).toEqual({ state: 'absent' });
});

test('a state that is not known keeps its submission waiting, and none of the others', async () => {
  handler = says(200, { states: { a: { state: 'in_review' }, b: { state: 'decided', verdict: 'accepted' } } });
  expect(await new FeedVendor({ baseUrl }).statesOf(['a', 'b', 'c'], { signal: never, log })).toEqual({
    a: { state: 'pending' },
    b: { state: 'ready', answer: { submissionId: 'b', verdict: 'accepted', reasons: [] } },
  });
  expect(warn).toHaveBeenCalledWith(expect.any(String), { submissions: 1, one: 'a' });
});

test.each([
  ['no JSON', says(201, 'created')],
  ['no id', says(201, {})],
  ['an id of no length', says(201, { id: '' })],
])('an answer with %s is not understood, which leaves open what was done', async (_, how) => {
  handler = how;
  await expect(submit()).rejects.toMatchObject({ name: 'Error', code: 'bad_answer' });
});

test('an answer without end is not read to its end', async () => {
  handler = says(201, 'x'.repeat(5 * 1_048_576));
  await expect(submit()).rejects.toMatchObject({ name: 'Error', code: 'answer_too_large' });
});

test('a redirect is not followed', async () => {
  handler = says(307, '', { location: '/elsewhere' });
  await expect(submit()).rejects.toMatchObject({ name: 'Error', code: 'http_307' });
});

test('a cancel that is refused is an error', async () => {
  handler = says(400, {});
  await expect(new FeedVendor({ baseUrl }).cancel(['a'], never)).rejects.toMatchObject({ code: 'http_400' });
});

test('a vendor that is not there, or breaks off, is an error with the code of the network', async () => {
  handler = (request) => request.socket.destroy();
  await expect(submit()).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  const gone = createServer();
  await new Promise<void>((listening) => gone.listen(0, '127.0.0.1', listening));
  const { port } = gone.address() as AddressInfo;
  await new Promise((closed) => gone.close(closed));
  const vendor = new FeedVendor({ baseUrl: `http://127.0.0.1:${port}` });
  await expect(vendor.find('k-1', never)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('the signal ends it, before and within the answer, with its own reason', async () => {
  const reason = new Error('enough');
  const silent = new AbortController();
  handler = () => silent.abort(reason);
  await expect(submit(silent.signal)).rejects.toBe(reason);
  const halfway = new AbortController();
  handler = (_, response) => {
    response.writeHead(201).write('{"id":', () => halfway.abort(reason));
  };
  await expect(submit(halfway.signal)).rejects.toBe(reason);
});
