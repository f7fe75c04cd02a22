import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  asEvent,
  events,
  json,
  job,
  outage,
  problem,
  startFakeApi,
  stream,
  type FakeApi,
  type Handler,
} from '../fixtures/fake-api';
import { FakeClock, runLine, type Run, type RunOptions } from '../fixtures/shell';

let fake: FakeApi;
afterEach(() => fake?.stop());

const folder = mkdtempSync(join(tmpdir(), 'itemwise-commands-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Answers = Record<string, Handler | Handler[]>;

async function run(argv: string[], answers: Answers, options?: RunOptions): Promise<Run> {
  fake = await startFakeApi(answers);
  return runLine([...argv, '--api', fake.url], options);
}

const running = job({ counts: { running: 10 } });
const succeeded = job({ state: 'succeeded', counts: { succeeded: 10 } });
const cancelled = job({ state: 'cancelled', counts: { succeeded: 4, skipped: 6 } });
const ITEM = { id: 'A', index: 0, state: 'succeeded', attempts: 1, result: { ok: true }, finishedAt: null };

describe('watch', () => {
  test.each([
    ['succeeded', { succeeded: 9, needs_review: 1 }, 0],
    ['completed_with_errors', { succeeded: 9, failed: 1 }, 3],
    ['failed', { failed: 10 }, 3],
    ['cancelled', { skipped: 10 }, 4],
  ] as const)('%s: exit code %#', async (state, counts, expected) => {
    const { code, out } = await run(['watch', 'job-1'], {
      'GET /v1/jobs/job-1/events': stream(running, running, job({ state, counts })),
      'GET /v1/jobs/job-1/items': json({ items: [], next: null }),
    });
    expect(code).toBe(expected);
    expect(out.lines[0]).toContain(`job-1 (item.echo@1) ${state} in 3.0 s`);
  });

  test('asks once, and is told the rest', async () => {
    await run(['watch', 'job-1'], { 'GET /v1/jobs/job-1/events': stream(running, running, succeeded) });
    expect(fake.requests).toEqual(['GET /v1/jobs/job-1/events']);
  });

  test('goes on where it was when the API restarts', async () => {
    const line = { no: 7, at: 'T', level: 'info', source: 'runner', message: 'm', itemId: null, state: 'running' };
    const clock = new FakeClock();
    const { code, err } = await run(
      ['watch', 'job-1'],
      {
        'GET /v1/jobs/job-1/events': [
          events([asEvent(running, 0), { event: 'state', data: line, id: 7 }], 'breaks'),
          events([asEvent(running, 0)]),
          events([{ event: 'reset', data: { reason: 'r' } }, asEvent(running, 0)]),
          stream(running, succeeded),
        ],
      },
      { clock },
    );
    expect(code).toBe(0);
    expect(fake.lastEventIds).toEqual([undefined, '7', '7', undefined]);
    // An API that is there, and breaks each connection off, is not asked without a pause.
    expect(clock.slept).toEqual([500, 500, 500]);
    expect(err.text).not.toContain('trying again');
  });

  test('goes on over an outage', async () => {
    const { code, err } = await run(['watch', 'job-1'], {
      'GET /v1/jobs/job-1/events': [
        events([asEvent(running, 0)], 'breaks'),
        outage,
        problem(503, 'store_unavailable', 'the database is locked'),
        stream(running, succeeded),
      ],
    });
    expect(code).toBe(0);
    expect(err.text).toMatch(/no answer from the API at .*; trying again for 1 min 0 s\n/);
    expect(err.text).toContain('the API is back, after 1.5 s\n');
  });

  test('gives up on an API that stays away, and says that the job goes on', async () => {
    const { code, err } = await run(['watch', 'job-1'], {
      'GET /v1/jobs/job-1/events': [events([asEvent(running, 0)]), outage],
    });
    expect(code).toBe(5);
    expect(err.lines.at(-1)).toContain('the job goes on; back to it: itemwise watch job-1');
  });

  test('an API that ends each stream before it begins is one that is away', async () => {
    const { code } = await run(['watch', 'job-1'], { 'GET /v1/jobs/job-1/events': events([]) });
    expect(code).toBe(5);
  });

  test('something else that answers there is told from an API', async () => {
    const { code, err } = await run(['watch', 'job-1'], { 'GET /v1/jobs/job-1/events': json({}) });
    expect([code, err.text]).toEqual([1, expect.stringContaining('is not Itemwise')]);
  });

  test('a job that there is not', async () => {
    const { code, err } = await run(['watch', 'job-9'], {
      'GET /v1/jobs/job-9/events': problem(404, 'job_not_found', 'there is no job "job-9"'),
    });
    expect(err.text).toBe('itemwise: there is no job "job-9" (job_not_found)\n');
    expect(code).toBe(2);
  });

  test('a job that is deleted meanwhile', async () => {
    const { code, err } = await run(['watch', 'job-1'], {
      'GET /v1/jobs/job-1/events': events([asEvent(running, 0), { event: 'deleted', data: { id: 'job-1' } }]),
    });
    expect([code, err.lines.at(-1)]).toEqual([2, 'itemwise: the job job-1 was deleted while it was followed']);
  });

  test('Ctrl-C leaves the job, and says how to come back', async () => {
    const stop = new AbortController();
    const { code, err, out } = await run(
      ['watch', 'job-1', '--json'],
      { 'GET /v1/jobs/job-1/events': [events([asEvent(running, 0)]), () => stop.abort()] },
      { stop },
    );
    expect(code).toBe(130);
    expect(err.lines.at(-1)).toBe(
      `itemwise: Interrupted; the job goes on; back to it: itemwise watch job-1 --api ${fake.url}`,
    );
    expect(JSON.parse(out.text)).toEqual(running);
    expect(fake.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
  });

  test('--json: stdout has the job as it ended, and nothing else', async () => {
    const { out } = await run(['watch', 'job-1', '--json'], {
      'GET /v1/jobs/job-1/events': stream(running, succeeded),
    });
    expect(JSON.parse(out.text)).toEqual(succeeded);
  });
});

describe('submit --watch', () => {
  test('ends as watch does', async () => {
    const { code, out } = await run(
      ['submit', '-', '--capability', 'c', '--watch'],
      {
        'POST /v1/jobs': json(job({ state: 'accepted' }), 202),
        'GET /v1/jobs/job-1/events': stream(running, cancelled),
      },
      { stdin: Readable.from([Buffer.from('{"a":1}')]) },
    );
    expect(code).toBe(4);
    expect(out.lines[0]).toContain('cancelled in 3.0 s: 4 succeeded, 6 skipped of 10 items');
  });
});

describe('jobs', () => {
  test('is a table', async () => {
    const jobs = [job({ labels: { team: 'a' } }), succeeded];
    const { out } = await run(['jobs'], { 'GET /v1/jobs': json({ jobs, next: null }) });
    expect(out.lines).toEqual([
      'JOB    CAPABILITY   STATE      ITEMS  OK  REVIEW  FAILED  SKIPPED  CREATED               LABELS',
      'job-1  item.echo@1  running       10   0       0       0        0  2026-01-01 10:00:00Z  team=a',
      'job-1  item.echo@1  succeeded     10  10       0       0        0  2026-01-01 10:00:00Z',
    ]);
  });

  test('filters, and pages as far as the limit', async () => {
    const page = (next: string | null): Handler => json({ jobs: Array(1_000).fill(running), next });
    const { out, err } = await run(
      ['jobs', '--state', 'running', '--capability', 'c@1', '--label', 'k=v:w', '--limit', '1500', '--json'],
      { 'GET /v1/jobs': [page('c1'), json({ jobs: Array(500).fill(running), next: 'c2' })] },
    );
    const query = 'state=running&capability=c%401&label=k%3Av%3Aw';
    expect(fake.requests).toEqual([`GET /v1/jobs?${query}&limit=1000`, `GET /v1/jobs?${query}&after=c1&limit=500`]);
    const answer = JSON.parse(out.text) as { jobs: unknown[]; next: string };
    expect([answer.jobs.length, answer.next]).toEqual([1_500, 'c2']);
    expect(err.text).toBe('');
  });

  test('says when there are none, and when there are more', async () => {
    const none = await run(['jobs'], { 'GET /v1/jobs': json({ jobs: [], next: null }) });
    expect(none.out.text).toBe('there are no such jobs\n');
    await fake.stop();
    const more = await run(['jobs', '--limit', '1'], { 'GET /v1/jobs': json({ jobs: [running], next: 'c' }) });
    expect(more.err.text).toBe('there are more than 1: --limit shows more\n');
  });
});

describe('show', () => {
  test('a job', async () => {
    const labels = { 'a\u001b': 'b' };
    const shown = {
      ...job({ labels, counts: { succeeded: 3, running: 5, waiting: 2 } }),
      cancel: { at: 'T', by: 'me', skipped: 6, running: 2, stopped: 1, vendorCancels: { sent: 3, failed: 1 } },
    };
    const { out } = await run(['show', 'job-1'], { 'GET /v1/jobs/job-1': json(shown) });
    expect(out.text).toContain('state       running: 3 succeeded of 10 items\n');
    expect(out.text).toContain('open        5 running, 2 waiting\n');
    expect(out.text).toContain('label       a\\u001b=b\n');
    expect(out.text).toContain('cancel      asked for at T by me\n');
    expect(out.text).toContain('6 skipped; 2 were running, 1 of them stopped\n');
    expect(out.text).toContain('vendors were asked to stop 3, 1 failed\n');
  });

  test('an item, whatever its id', async () => {
    const item = {
      ...ITEM,
      id: '../ä b?',
      state: 'waiting',
      result: undefined,
      parked: { due: 'T', deferrals: 2, error: { code: 'c', message: 'm' } },
      progress: { done: 1, total: 3, note: 'n' },
    };
    const { out } = await run(['show', 'job-1', '../ä b?'], {
      'GET /v1/jobs/job-1/items/..%2F%C3%A4%20b%3F': json(item),
    });
    expect(out.text).toContain('item      ../ä b?\nrow       1\n');
    expect(out.text).toContain('due       T, deferred 2 times\nbecause   c: m\nprogress  1/3 n\n');
  });

  test('an id of dots is no step up', async () => {
    const { code } = await run(['show', 'job-1', '..', '--json'], { 'GET /v1/jobs/job-1/items/..': json(ITEM) });
    expect(code).toBe(0);
  });
});

describe('results', () => {
  const NDJSON = `${JSON.stringify(ITEM)}\n${JSON.stringify({ ...ITEM, id: 'B' })}\n`;
  const whole: Handler = (_, response) => void response.end(NDJSON);
  const broken: Handler = (_, response) => response.write(NDJSON, () => response.destroy());

  test('go to stdout as they are', async () => {
    const { out } = await run(['results', 'job-1', '--outcome', 'failed'], { 'GET /v1/jobs/job-1/results': whole });
    expect(out.text).toBe(NDJSON);
    expect(fake.requests).toEqual(['GET /v1/jobs/job-1/results?outcome=failed']);
  });

  test('go to a file', async () => {
    const file = join(folder, 'whole.ndjson');
    const { out, err } = await run(['results', 'job-1', '--out', file], { 'GET /v1/jobs/job-1/results': whole });
    expect(readFileSync(file, 'utf8')).toBe(NDJSON);
    expect([out.text, err.text]).toEqual(['', `2 outcomes in ${file}\n`]);
  });

  test('a file is there only when it is whole', async () => {
    const file = join(folder, 'broken.ndjson');
    writeFileSync(file, 'from before');
    const { code } = await run(['results', 'job-1', '--out', file], { 'GET /v1/jobs/job-1/results': broken });
    expect(code).toBe(5);
    expect(readFileSync(file, 'utf8')).toBe('from before');
    expect(existsSync(`${file}.part`)).toBe(false);
  });

  test('a file that cannot be written', async () => {
    const file = join(folder, 'no', 'folder');
    const { code, err } = await run(['results', 'job-1', '--out', file], { 'GET /v1/jobs/job-1/results': whole });
    expect(code).toBe(2);
    expect(err.text).toContain(`itemwise: ${file}: ENOENT`);
  });
});

describe('steering', () => {
  test.each([
    ['cancel', job({ state: 'cancelling' }), 'job-1 is cancelling: 0 succeeded of 10 items\n'],
    ['pause', job({ state: 'paused' }), 'job-1 is paused: 0 succeeded of 10 items\n'],
    ['resume', running, 'job-1 is running: 0 succeeded of 10 items\n'],
  ])('%s', async (verb, answer, expected) => {
    const { code, out } = await run([verb, 'job-1'], { [`POST /v1/jobs/job-1/${verb}`]: json(answer) });
    expect([code, out.text]).toEqual([0, expected]);
  });

  test('cancel --wait ends well when the job is cancelled', async () => {
    const { code, out } = await run(['cancel', 'job-1', '--wait', '--json'], {
      'POST /v1/jobs/job-1/cancel': json(job({ state: 'cancelling' })),
      'GET /v1/jobs/job-1/events': stream(cancelled),
    });
    expect([code, JSON.parse(out.text)]).toEqual([0, cancelled]);
  });

  test('what the state does not allow', async () => {
    const { code, err } = await run(['pause', 'job-1'], {
      'POST /v1/jobs/job-1/pause': problem(409, 'not_possible_now', 'a job that is failed cannot be paused'),
    });
    expect([code, err.text]).toEqual([2, 'itemwise: a job that is failed cannot be paused (not_possible_now)\n']);
  });
});

describe('log and delete', () => {
  const line = { no: 1, at: 'T', level: 'warn', source: 'payload', message: 'a\nb', itemId: 'A' };

  test('the log is paged through', async () => {
    const { out } = await run(['log', 'job-1'], {
      'GET /v1/jobs/job-1/log': [
        json({ lines: [line], next: '1' }),
        json({ lines: [{ ...line, source: 'runner', itemId: null }], next: null }),
      ],
    });
    expect(out.lines).toEqual(['T warn  payload [A] a\\u000ab', 'T warn  runner  a\\u000ab']);
    expect(fake.requests[1]).toBe('GET /v1/jobs/job-1/log?after=1&limit=1000');
  });

  test('the log is followed, over restarts, to the end of the job', async () => {
    const of = (no: number) => ({ event: 'log', id: no, data: { ...line, no, message: `line ${no}`, state: null } });
    const { code, out, err } = await run(['log', 'job-1', '--follow'], {
      'GET /v1/jobs/job-1/events': [
        events([asEvent(running, 0), of(1), of(2)], 'breaks'),
        events([{ event: 'reset', data: { reason: 'it is another log' } }, of(4)]),
        events([of(5), asEvent(succeeded, 1)]),
      ],
    });
    expect(out.lines.map((text) => text.slice(-6))).toEqual(['line 1', 'line 2', 'line 4', 'line 5']);
    expect(fake.requests[0]).toBe('GET /v1/jobs/job-1/events?log=true');
    expect(fake.lastEventIds).toEqual([undefined, '2', '4']);
    expect([code, err.text]).toEqual([0, 'the log comes again from its beginning: it is another log\n']);
  });

  test('delete', async () => {
    const { out } = await run(['delete', 'job-1'], {
      'DELETE /v1/jobs/job-1': (_, response) => void response.writeHead(204).end(),
    });
    expect(out.text).toBe('job-1 is deleted\n');
  });
});
