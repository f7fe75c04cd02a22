import { json, job, problem, startFakeApi, bodyOf, type FakeApi, type Handler } from '../fixtures/fake-api';
import { runLine, type Run } from '../fixtures/shell';

let fake: FakeApi;
afterEach(() => fake?.stop());

async function run(argv: string[], answers: Record<string, Handler | Handler[]>): Promise<Run> {
  fake = await startFakeApi(answers);
  return runLine([...argv, '--api', fake.url]);
}

const AGAIN = { ...job({ id: 'job-2', retryOf: 'job-1', items: 3 }), leftOut: { openCalls: 0, retriedSince: 0 } };

/** Answers, and keeps what was sent. */
function keeping(answer: object, kept: unknown[]): Handler {
  return (request, response) => {
    void bodyOf(request).then((text) => {
      kept.push(JSON.parse(text));
      json(answer, 202)(request, response);
    });
  };
}

describe('retry', () => {
  test.each([
    [[], {}],
    [['--item', 'a', '--item', 'b'], { items: ['a', 'b'] }],
    [['--outcome', 'skipped'], { outcome: 'skipped' }],
    [['--dead', '--open-calls', 'look_up'], { deadLettered: true, openCalls: 'look_up' }],
  ])('%j sends %j, and says which job it is', async (flags, sent) => {
    const kept: unknown[] = [];
    const { code, out, err } = await run(['retry', 'job-1', ...flags], {
      'POST /v1/jobs/job-1/retry': keeping(AGAIN, kept),
    });
    expect(kept).toEqual([sent]);
    expect({ code, out: out.text }).toEqual({ code: 0, out: 'job-2\n' });
    expect(err.text).toContain('3 items run again; follow: itemwise watch job-2');
  });

  test('says what was left out, and what to do about it', async () => {
    const { err } = await run(['retry', 'job-1'], {
      'POST /v1/jobs/job-1/retry': json({ ...AGAIN, leftOut: { openCalls: 2, retriedSince: 1 } }, 202),
    });
    expect(err.lines.slice(0, 2)).toEqual([
      '2 items with a paid call whose answer is not known left out: see --open-calls',
      '1 item left out: a later job has them',
    ]);
  });

  test('shows why there is nothing to be run again', async () => {
    const { code, err } = await run(['retry', 'job-1'], {
      'POST /v1/jobs/job-1/retry': problem(422, 'not_retryable', 'no item is left to be retried'),
    });
    expect(code).not.toBe(0);
    expect(err.text).toContain('no item is left to be retried');
  });

  test('takes one way to choose', async () => {
    const { code, err } = await run(['retry', 'job-1', '--dead', '--item', 'a'], {});
    expect(code).toBe(2);
    expect(err.text).toContain("cannot be used with option '--item <id>'");
  });
});

const LETTER = {
  ...{ id: '7', job: 'job-1', capability: 'item.echo@1', item: 'a', at: '2026-01-01T10:00:00.000Z', attempts: 3 },
  ...{ error: { code: 'http_503', message: 'the vendor\u001b[31m is away' }, replayedBy: null },
};

describe('dead-letters', () => {
  test('lists those that nobody has dealt with', async () => {
    const { out, err } = await run(['dead-letters', '--job', 'job-1'], {
      'GET /v1/dead-letters': json({ deadLetters: [LETTER], next: '7' }),
    });
    expect(fake.requests).toEqual(['GET /v1/dead-letters?job=job-1&replayed=false&limit=50']);
    expect(out.lines[1]).toMatch(/^ 7 {2}2026-01-01 10:00:00Z {2}job-1 {2}a +3 {2}http_503: the vendor/);
    expect(out.text).not.toContain('\u001b');
    expect(err.text).toContain('itemwise dead-letters show ID');
  });

  test('lists all, as JSON too; and says when there are none', async () => {
    const page = { deadLetters: [{ ...LETTER, replayedBy: 'job-2' }], next: null };
    const all = await run(['dead-letters', 'list', '--all'], { 'GET /v1/dead-letters': json(page) });
    expect(all.out.lines[1]).toMatch(/job-2$/);
    await fake.stop();
    const asJson = await run(['dead-letters', 'list', '--json'], { 'GET /v1/dead-letters': json(page) });
    expect(JSON.parse(asJson.out.text)).toEqual(page);
    await fake.stop();
    const none = await run(['dead-letters'], { 'GET /v1/dead-letters': json({ deadLetters: [], next: null }) });
    expect(none.out.text).toBe('there are no such dead letters\n');
  });

  test('shows one with all that a replay needs', async () => {
    const openCalls = [{ call: 'charge', vendor: 'acme', key: 'k-1', remoteId: 'ch_1' }];
    const detail = { ...LETTER, input: { sku: 1 }, params: {}, labels: { team: 'x' }, openCalls };
    const { out } = await run(['dead-letters', 'show', '7'], { 'GET /v1/dead-letters/7': json(detail) });
    expect(out.text).toContain('charge of acme: key k-1, remote id ch_1');
    expect(out.text).toMatch(/^input +\{"sku":1\}$/m);
  });

  test('replays one', async () => {
    const kept: unknown[] = [];
    const { out } = await run(['dead-letters', 'replay', '7', '--open-calls', 'send_again'], {
      'POST /v1/dead-letters/7/replay': keeping(AGAIN, kept),
    });
    expect(kept).toEqual([{ openCalls: 'send_again' }]);
    expect(out.text).toBe('job-2\n');
  });
});

describe('why', () => {
  const { counts } = job({ counts: { waiting: 5, running: 5 } });
  const due = '2026-01-01T10:01:00.000Z';
  const answer = {
    cause: 'window_full',
    sentence: 'It is at work.',
    facts: {
      ...{ state: 'running', stateSince: '2026-01-01T10:00:00.000Z', counts, window: 5, queue: null, missing: null },
      units: [{ worker: 'w1', items: 5, running: 5, openedAt: '2026-01-01T10:00:00.000Z' }],
      slowest: [{ item: 'slow-one', startedAt: '2026-01-01T10:00:00.000Z', worker: 'w1' }],
      parked: {
        total: 5,
        nextDue: due,
        lookedAt: 5,
        reasons: [{ kind: 'retry', code: 'http_503', message: 'away', count: 5, due }],
      },
      workers: { alive: 2, withCapability: 1 },
    },
  };

  test('says it in one sentence, and the facts below', async () => {
    const { out } = await run(['why', 'job-1'], { 'GET /v1/jobs/job-1/why': json(answer) });
    expect(out.lines[0]).toBe('It is at work.');
    expect(out.text).toMatch(/^slow +slow-one since 2026-01-01T10:00:00.000Z on w1$/m);
    expect(out.text).toMatch(/^parked +5 retry \(http_503: away\), the first due 2026-01-01T10:01:00.000Z$/m);
    expect(out.text).toMatch(/^workers +2 alive, 1 of them with the capability$/m);
  });

  test('of an ended job says no more than that; and all of it as JSON', async () => {
    const over = { ...answer, cause: 'ended', sentence: 'It waits for nothing.' };
    const ended = await run(['why', 'job-1'], { 'GET /v1/jobs/job-1/why': json(over) });
    expect(ended.out.text).toBe('It waits for nothing.\n');
    await fake.stop();
    const asJson = await run(['why', 'job-1', '--json'], { 'GET /v1/jobs/job-1/why': json(answer) });
    expect(JSON.parse(asJson.out.text)).toEqual(answer);
  });
});
