import { connect } from 'node:net';
import { until } from '../test/support/rig';
import { JSON_TYPE, NDJSON_TYPE, bodyOf, call, get, openRequest, post, problem } from './fixtures/http';
import { NOTHING, idleQueue, leftovers, openTestApi, type TestApi } from './fixtures/test-api';
import { jobsPageSchema } from './schemas';

const line = (id: number): string => `{"id":"${id}","input":{}}\n`;
const lines = (n: number): string => Array.from({ length: n }, (_, id) => line(id)).join('');

let api: TestApi;
beforeEach(async () => {
  api = await openTestApi();
});
afterEach(() => api.stop());

describe('a client that goes away half way', () => {
  const halves = [
    [
      'JSON',
      JSON_TYPE,
      '/v1/jobs',
      bodyOf(Array.from({ length: 2_000 }, (_, id) => ({ id: `${id}`, input: {} }))).slice(0, -2),
    ],
    ['NDJSON', NDJSON_TYPE, '/v1/jobs?capability=test.script', lines(2_000)],
  ] as const;

  it.each(halves)('leaves nothing of its %s behind', async (_, headers, path, half) => {
    const request = openRequest(api.url, path, { headers });
    request.write(half);
    const begun = async (): Promise<boolean> => (await leftovers(api)).items > 0;
    await until(api.store, begun, 'half of the upload is stored');
    request.destroy();
    await expect(request.answer).rejects.toThrow();
    const dropped = async (): Promise<boolean> => (await leftovers(api)).uploads.length === 0;
    await until(api.store, dropped, 'the upload is dropped');
    expect(await leftovers(api)).toEqual(NOTHING);
  });

  it.each(halves)(
    'leaves nothing of its %s behind when it declared more than it sent',
    async (_, headers, path, half) => {
      const { hostname, port } = new URL(api.url);
      const socket = connect(Number(port), hostname);
      const type = headers['content-type'];
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: 10000000\r\n\r\n${half}`,
      );
      await until(api.store, async () => (await leftovers(api)).items > 0, 'half of the upload is stored');
      socket.destroy();
      await until(api.store, async () => (await leftovers(api)).uploads.length === 0, 'the upload is dropped');
      expect(await leftovers(api)).toEqual(NOTHING);
    },
  );
});

it('shows nobody an upload that is not complete', async () => {
  const request = openRequest(api.url, '/v1/jobs?capability=test.script', { headers: NDJSON_TYPE });
  request.write(lines(1_500));
  await until(api.store, async () => (await leftovers(api)).items > 0, 'some of the upload is stored');
  expect(await get(api.url, '/v1/jobs', jobsPageSchema)).toEqual({ jobs: [], next: null });
  request.end();
  const { status, text } = await request.answer;
  expect([status, JSON.parse(text)]).toMatchObject([202, { items: 1_500, counts: { pending: 1_500 } }]);
});

it('keeps a slow upload from being taken for a broken one: what has come is stored soon', async () => {
  const request = openRequest(api.url, '/v1/jobs?capability=test.script', { headers: NDJSON_TYPE });
  request.write(line(1));
  request.keepSending(() => '\n');
  await until(api.store, async () => (await leftovers(api)).items === 1, 'the one item is stored');
  request.end(line(2));
  expect((await request.answer).status).toBe(202);
});

describe('an answer that comes before the body is through', () => {
  it('reaches a client that sends all before it reads', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const error = new Promise((resolve) => socket.on('error', resolve));
    const size = 20_000_000;
    socket.pause();
    socket.write(
      `POST /v1/jobs HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${size}\r\n\r\n`,
    );
    // Not a byte is read before the last one is with the kernel.
    const sent = new Promise((resolve) => socket.write(Buffer.alloc(size, 'x'), () => resolve('sent')));
    expect(await Promise.race([sent, error])).toBe('sent');
    const read = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    socket.resume();
    expect(await read).toMatch(/^HTTP\/1.1 400 Bad Request\r\n[^]*"code":"invalid_json"/);
    socket.destroy();
  });

  it('leaves the connection in use when the rest of the body does come', async () => {
    const request = openRequest(api.url, '/v1/jobs', { headers: { ...JSON_TYPE, 'content-length': 10 } });
    request.write('oops!');
    const answer = await request.answer;
    problem(answer, 'invalid_json');
    expect(answer.headers.connection).not.toBe('close');
    request.end('12345');
    expect((await post(api.url, bodyOf([{ id: 'a', input: {} }]))).status).toBe(202);
  });

  it('ends the connection of a client that sends for ever', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write('POST /v1/jobs HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n');
    const sending = setInterval(() => socket.write('1\r\nx\r\n'), 10);
    socket.resume();
    await closed;
    clearInterval(sending);
  });
});

it('answers a submit while the queue does not: sealed is accepted', async () => {
  const never = new Promise<void>(() => undefined);
  const deaf = await openTestApi({ queue: idleQueue({ start: () => never }) });
  const answer = await post(deaf.url, bodyOf([{ id: 'a', input: {} }]));
  expect(answer.status).toBe(202);
  expect(answer.headers.location).toBe(`/v1/jobs/${(JSON.parse(answer.text) as { id: string }).id}`);
  await deaf.stop();
});

it('answers a submit by what was sealed, with no read that could fail after it', async () => {
  const blind = await openTestApi({
    wrapStore: (store) => ({ ...store, counts: () => Promise.reject(new Error('no reads')) }),
  });
  const answer = await post(blind.url, bodyOf([{ id: 'a', input: {} }]));
  expect(answer.status).toBe(202);
  problem(await call(blind.url, answer.headers.location!), 'internal');
  await blind.stop();
});
