import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { asEvent, events, json, job, startFakeApi, stream, type FakeApi, type Handler } from '../fixtures/fake-api';
import { runLine, type Run, type RunOptions } from '../fixtures/shell';
import { systemClock } from '../session';

const folder = mkdtempSync(join(tmpdir(), 'itemwise-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

let fake: FakeApi | undefined;
afterEach(() => fake?.stop());

type Answers = Record<string, Handler | Handler[]>;

async function run(argv: string[], answers: Answers, options?: RunOptions): Promise<Run> {
  fake = await startFakeApi(answers);
  return runLine([...argv, '--api', fake.url], options);
}

const running = job({ counts: { running: 10 } });
const succeeded = job({ state: 'succeeded', counts: { succeeded: 10 } });
const cancelled = job({ state: 'cancelled', counts: { succeeded: 4, skipped: 6 } });
const ITEM = { id: 'A', index: 0, state: 'succeeded', attempts: 1, result: { ok: true }, finishedAt: null };

describe('run', () => {
  const stdin = (): Readable => Readable.from([Buffer.from('{"a":1}')]);
  const line = `${JSON.stringify(ITEM)}\n`;
  const answers = (...streams: Handler[]): Answers => ({
    'POST /v1/jobs': json(job({ state: 'accepted' }), 202),
    'POST /v1/jobs/job-1/cancel': json(job({ state: 'cancelling' })),
    'GET /v1/jobs/job-1/events': streams,
    'GET /v1/jobs/job-1/results': (_, response) => void response.end(line),
  });
  const RUN = ['run', '-', '--capability', 'c'];

  test('outcomes on stdout, all else on stderr', async () => {
    const { code, out, err } = await run(RUN, answers(stream(running, succeeded)), { stdin: stdin() });
    expect([code, out.text]).toEqual([0, line]);
    expect(err.text).toContain('job-1 (item.echo@1) succeeded in 3.0 s');
  });

  test('outcomes in a file, the job on stdout', async () => {
    const file = join(folder, 'run.ndjson');
    const { out } = await run([...RUN, '--out', file, '--json'], answers(stream(succeeded)), { stdin: stdin() });
    expect(readFileSync(file, 'utf8')).toBe(line);
    expect(JSON.parse(out.text)).toEqual(succeeded);
  });

  test('Ctrl-C cancels the job, and the outcomes that there are come all the same', async () => {
    const stop = new AbortController();
    const { code, out, err } = await run(
      RUN,
      answers(events([asEvent(running, 0)]), () => stop.abort(), stream(running, cancelled)),
      { stdin: stdin(), stop },
    );
    expect([code, out.text]).toEqual([130, line]);
    expect(fake?.requests).toContain('POST /v1/jobs/job-1/cancel');
    expect(err.lines.at(-1)).toBe('itemwise: Interrupted; the job is cancelled');
  });
});

/** The real service in this process: a file in, a file of outcomes out. */
test('run --local needs no server', async () => {
  const file = join(folder, 'rows.csv');
  const outFile = join(folder, 'outcomes.ndjson');
  writeFileSync(file, 'sku,x\nA,1\nB,\n');
  const argv = ['run', file, '--id', 'sku', '--capability', 'item.echo', '--local', '--out', outFile, '--json'];
  const { code, out, err } = await runLine(argv, { clock: systemClock });
  expect([code, err.lines.at(-1)]).toEqual([0, `2 outcomes in ${outFile}`]);
  expect(JSON.parse(out.text)).toMatchObject({ state: 'succeeded', items: 2, counts: { succeeded: 2 } });
  const outcomes = readFileSync(outFile, 'utf8').trim().split('\n');
  expect(outcomes.map((line) => JSON.parse(line) as object)).toMatchObject([
    { id: 'A', state: 'succeeded', result: { ok: true } },
    { id: 'B', state: 'succeeded', result: { ok: true } },
  ]);
  // On a machine with other work, to load the whole service takes its time.
}, 30_000);
