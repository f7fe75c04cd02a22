import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { bodyOf, json, job, outage, problem, startFakeApi, type FakeApi, type Handler } from '../fixtures/fake-api';
import { runLine } from '../fixtures/shell';
import type { NewItem } from '../readers';
import { toProblem } from './problem';
import { toBody } from './upload';

let fake: FakeApi;
afterEach(() => fake?.stop());

const serve = async (answers: Record<string, Handler | Handler[]>): Promise<string[]> => {
  fake = await startFakeApi(answers);
  return ['--api', fake.url];
};

/** Lines without end; `taken` says how many were read. */
function endless(): { stdin: Readable; taken: () => number } {
  let taken = 0;
  const lines = function* (): Generator<Buffer> {
    for (;;) yield Buffer.from(`{"n":${taken++},"text":"${'x'.repeat(1_000)}"}\n`);
  };
  return { stdin: Readable.from(lines(), { objectMode: true }), taken: () => taken };
}

const SUBMIT = ['submit', '-', '--format', 'ndjson', '--capability', 'c@1'];

/** Hands out the request and keeps its answer to itself. */
function capture(): { handler: Handler; request: Promise<IncomingMessage> } {
  let handler!: Handler;
  const request = new Promise<IncomingMessage>((resolve) => (handler = (incoming) => resolve(incoming)));
  return { handler, request };
}

function closed(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    request.on('error', () => undefined);
    request.on('close', () => resolve());
    request.resume();
  });
}

describe('submit', () => {
  test('sends the items as NDJSON, and the rest in the query', async () => {
    let body = '';
    let headers: IncomingMessage['headers'] = {};
    const api = await serve({
      'POST /v1/jobs': (request, response) => {
        headers = request.headers;
        void bodyOf(request).then((text) => {
          body = text;
          json(job({ state: 'accepted', items: 2 }), 202)(request, response);
        });
      },
    });
    const options = ['--params', '{"p":1}', '--label', 'a=b', '--label', 'c=d=e', '--concurrency', '5'];
    const { code, out } = await runLine([...SUBMIT, ...options, '--idempotency-key', 'k-1', ...api], {
      stdin: Readable.from([Buffer.from('{"x":"ü"}\n{"id":"A","input":7}')]),
    });
    expect(code).toBe(0);
    expect(body).toBe('{"id":"1","input":{"x":"ü"}}\n{"id":"A","input":7}\n');
    expect(headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'idempotency-key': 'k-1' });
    expect(Object.fromEntries(new URL(fake.requests[0]?.split(' ')[1] ?? '', fake.url).searchParams)).toEqual({
      capability: 'c@1',
      params: '{"p":1}',
      labels: '{"a":"b","c":"d=e"}',
      options: '{"concurrency":5}',
    });
    expect(out.lines[0]).toBe('job-1 is accepted: 2 items for item.echo@1');
    expect(out.lines[1]).toContain(`itemwise watch job-1 --api ${fake.url}`);
  });

  test('--json gives the job', async () => {
    const api = await serve({ 'POST /v1/jobs': json(job({ state: 'accepted' }), 202) });
    const { out } = await runLine([...SUBMIT, '--json', ...api], { stdin: Readable.from([Buffer.from('{"a":1}')]) });
    expect(out.lines.map((line) => JSON.parse(line) as unknown)).toEqual([job({ state: 'accepted' })]);
  });

  test('an answer that comes while the body is sent is shown, though the connection ends with it', async () => {
    const early: Handler = (_request, response) => {
      const body = JSON.stringify({ code: 'unknown_capability', detail: 'there is no capability "c@1"' });
      response.writeHead(422, { 'content-type': 'application/problem+json', connection: 'close' }).end(body);
    };
    const api = await serve({ 'POST /v1/jobs': early });
    const { code, err } = await runLine([...SUBMIT, ...api], { stdin: endless().stdin });
    expect(err.text).toBe('itemwise: there is no capability "c@1" (unknown_capability)\n');
    expect(code).toBe(2);
  });

  test('a mistake further down in the file ends the upload before it is whole', async () => {
    const { handler, request } = capture();
    const api = await serve({ 'POST /v1/jobs': handler });
    const lines = function* (): Generator<Buffer> {
      for (let no = 1; no <= 300; no++) yield Buffer.from(`{"text":"${'x'.repeat(1_000)}"}\n`);
      yield Buffer.from('{"text":\n');
    };
    const running = runLine([...SUBMIT, ...api], { stdin: Readable.from(lines(), { objectMode: true }) });
    const incoming = await request;
    const [{ code, err }] = await Promise.all([running, closed(incoming)]);
    expect(incoming.complete).toBe(false);
    expect(err.text).toContain('standard input: line 301 is not JSON');
    expect(code).toBe(2);
  });

  test('Ctrl-C while the body is sent leaves it incomplete', async () => {
    const { handler, request } = capture();
    const api = await serve({ 'POST /v1/jobs': handler });
    const stop = new AbortController();
    const running = runLine([...SUBMIT, ...api], { stdin: endless().stdin, stop });
    const incoming = await request;
    stop.abort();
    const [{ code, err }] = await Promise.all([running, closed(incoming)]);
    expect(incoming.complete).toBe(false);
    expect(err.text).toBe('itemwise: Interrupted; nothing was submitted.\n');
    expect(code).toBe(130);
  });

  test('Ctrl-C when only the answer is missing does not say that nothing was submitted', async () => {
    const stop = new AbortController();
    const api = await serve({ 'POST /v1/jobs': (request) => void bodyOf(request).then(() => stop.abort()) });
    const { code, err } = await runLine([...SUBMIT, ...api], { stdin: Readable.from([Buffer.from('1')]), stop });
    expect(err.text).toContain('it may have been submitted: see itemwise jobs');
    expect(code).toBe(130);
  });

  test('a connection that breaks is an API that cannot be reached', async () => {
    const api = await serve({ 'POST /v1/jobs': outage });
    const { code, err } = await runLine([...SUBMIT, ...api], { stdin: endless().stdin });
    expect(err.text).toContain('no answer from the API');
    expect(err.text).toContain('nothing was submitted');
    expect(code).toBe(5);
  });

  test('items are taken only as the body is', async () => {
    let taken = 0;
    const items = async function* (): AsyncGenerator<NewItem> {
      for (;;) yield { id: String(++taken), input: 'x'.repeat(1_000) };
    };
    const body = toBody(items(), () => undefined);
    const first = await body.next();
    expect(taken).toBeLessThan(100);
    expect((first.value as Buffer).length).toBeGreaterThan(60_000);
    await body.next();
    expect(taken).toBeLessThan(200);
    await body.return(undefined);
  });
});

describe('problems', () => {
  test.each([
    [422, 2],
    [404, 2],
    [500, 1],
    [503, 5],
  ])('%d: exit code %d', async (status, expected) => {
    const api = await serve({ 'GET /v1/jobs/j': problem(status, 'a_code', 'what is wrong') });
    const { code, err } = await runLine(['show', 'j', ...api]);
    expect(err.text).toBe('itemwise: what is wrong (a_code)\n');
    expect(code).toBe(expected);
  });

  test('issues are listed, at most five', () => {
    const issues = Array.from({ length: 7 }, (_, at) => ({ path: `p${at}`, message: 'm' }));
    expect(toProblem(422, JSON.stringify({ detail: 'd', code: 'c', issues })).message).toBe(
      'd: p0: m; p1: m; p2: m; p3: m; p4: m; 2 more (c)',
    );
  });

  test.each(['', '<p>hello', 'null', '[]', '{"detail":7}'])('an answer that is no problem: %j', (body) => {
    expect(toProblem(502, body)).toMatchObject({ message: 'the API answered 502', exitCode: 5 });
  });

  test('something else that answers there is told from an API', async () => {
    const api = await serve({ 'GET /v1/jobs/j': (_, response) => void response.end('<p>hello') });
    const { code, err } = await runLine(['show', 'j', ...api]);
    expect(err.text).toContain('is not Itemwise');
    expect(code).toBe(1);
  });
});
