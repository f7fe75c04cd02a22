import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseFile, loadConfig } from '../../config';
import { openStore, type JobRecord, type Store } from '../../store';
import { startApiProcess, type ApiProcess, type Memory } from '../support/api-process';
import { until } from '../support/rig';
import { readSlowly, type SlowReader } from '../support/slow-reader';
import { flush, newItems, newJob, openUnit, ended as outcomes } from '../conformance/store/kit';

/** What one has to read who asks for the log: 20 MB. A connection takes 4 MB by itself. */
const FLUSHES = 2;
const LINES = 2_500;
const LINE = 'x'.repeat(4_000);

/** 1 KB/s. */
const SLOW = 1_000;
const WITH_LOG = 40;
const CLIENTS = 500;

/**
 * What 500 readers may cost at most beside what the process has anyway, bytes. Without a bound both would be over 600 MB;
 * what is resident is also the waste of bringing 160 MB into the connections.
 */
const BOUND: Memory = { live: 60_000_000, resident: 250_000_000 };

const folder = mkdtempSync(join(tmpdir(), 'itemwise-c35-'));
let store: Store;
let api: ApiProcess;
const readers: SlowReader[] = [];

beforeAll(async () => {
  const config = loadConfig({ ITEMWISE_DATA: folder, ITEMWISE_QUEUE: 'in-process' });
  store = await openStore({ file: databaseFile(config), patienceMs: 10_000 });
  api = await startApiProcess(folder);
}, 60_000);
afterAll(async () => {
  for (const reader of readers) reader.vanish('end');
  api?.kill();
  await store?.close();
  rmSync(folder, { recursive: true, force: true });
});

function connect(path: string, lastEventId?: string, bytesPerSecond = SLOW): SlowReader {
  const reader = readSlowly({ url: api.url, path, bytesPerSecond, lastEventId });
  readers.push(reader);
  return reader;
}

/** Reads as fast as it can, to the end. */
async function whole(path: string, lastEventId?: string): Promise<SlowReader> {
  const reader = connect(path, lastEventId);
  reader.hurry();
  await reader.ended;
  return reader;
}

async function openStreams(): Promise<number> {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  return Number(/^itemwise_event_streams (\d+)$/m.exec(text)?.[1]);
}

async function submitWithLog(): Promise<JobRecord> {
  const upload = await store.openUpload('default');
  await store.addItems(upload, newItems(1_000));
  const { job } = await store.seal(upload, newJob(1_000, { tenant: 'default' }));
  await store.workflowStarted(job.no, 1);
  const unit = await openUnit(store, job, 1);
  const line = { level: 'info', source: 'runner', message: LINE } as const;
  for (let at = 0; at < FLUSHES; at++) {
    await store.settle([flush(unit, { log: Array<typeof line>(LINES).fill(line) })]);
  }
  return job;
}

/** The job goes on: items end, its state changes, while `holds` does not. */
async function goOn(job: JobRecord, from: number, enough: () => boolean | Promise<boolean>): Promise<number> {
  let index = from;
  for (; !(await enough()) && index < job.items; index++) {
    const settled = outcomes('succeeded', [index]);
    await store.settle([flush({ jobNo: job.no, generation: 1, seq: 1, delivery: 'first' }, { settled })]);
    if (index % 50 === 10) await store.pause(job.no);
    if (index % 50 === 20) await store.resume(job.no);
  }
  return index;
}

async function idsOf(job: JobRecord): Promise<{ all: number[]; states: number[] }> {
  const lines: { no: number; state: string | null }[] = [];
  for (let after = 0; ;) {
    const page = await store.log(job.no, { after, limit: 1_000 });
    lines.push(...page);
    if (page.length < 1_000) break;
    after = page[page.length - 1]!.no;
  }
  return { all: lines.map(({ no }) => no), states: lines.filter(({ state }) => state).map(({ no }) => no) };
}

it('C35: 500 readers at 1 KB/s, half of which vanish, cost a bounded amount; none has a gap, all hear the end', async () => {
  const job = await submitWithLog();
  const path = `/v1/jobs/${job.id}/events`;
  // Whatever a first request loads is there before it is measured.
  expect(await openStreams()).toBe(0);
  const before = await api.memory();
  // Each from another line on: no two of them can be served with the same piece.
  const first = (await idsOf(job)).all;
  const logs = Array.from({ length: WITH_LOG }, (_, at) => connect(`${path}?log=true`, String(first[at])));
  const states = Array.from({ length: CLIENTS - WITH_LOG }, () => connect(path));
  await until(store, () => [...logs, ...states].every((reader) => reader.begun), 'all have begun');
  // The log fills what lies between: they have taken a few KB of 20 MB.
  let most = before;
  const measure = async (): Promise<void> => {
    const { live, resident } = await api.memory();
    most = { live: Math.max(most.live, live), resident: Math.max(most.resident, resident) };
  };
  let index = await goOn(job, 0, async () => {
    await measure();
    return states.every(({ ids }) => ids.length >= 5);
  });
  expect(await openStreams()).toBe(CLIENTS);
  for (const { bytes } of logs) expect(bytes).toBeLessThan(100_000);

  const half = (of: SlowReader[]): [SlowReader[], SlowReader[]] => [
    of.filter((_, at) => at % 2),
    of.filter((_, at) => !(at % 2)),
  ];
  const [goneLogs, leftLogs] = half(logs);
  const [goneStates, leftStates] = half(states);
  for (const [at, reader] of [...goneLogs, ...goneStates].entries()) reader.vanish(at % 3 ? 'reset' : 'end');
  await until(store, async () => (await openStreams()) === CLIENTS / 2, 'those that vanished are let go of');
  await measure();

  // They come back: some to where they were, some with an id that leads nowhere.
  const back = goneStates.slice(0, 30).map(({ ids }) => ({ had: ids, reader: connect(path, String(ids.at(-1))) }));
  const lost = ['what is this?', '0', '999999999', `${job.no}e3`, '-1'].map((id) => connect(path, id));
  index = await goOn(job, index, () => index > 0 && back.every(({ reader }) => reader.begun));
  await store.requestCancel(job.no, 'test');
  await store.endCancelled(job.no);
  await store.finalize(job.no, 0);
  const { all, states: stateIds } = await idsOf(job);
  // At 1 KB/s they hear of the end by themselves; those with the log before them would read for hours.
  for (const reader of leftLogs.slice(0, 5)) reader.hurry();
  for (const reader of leftLogs.slice(5)) reader.vanish('end');
  await Promise.all(
    [...leftStates, ...leftLogs, ...lost, ...back.map(({ reader }) => reader)].map(({ ended }) => ended),
  );

  for (const reader of leftStates) expect([reader.ids, reader.kinds.at(-1)]).toEqual([stateIds, 'end']);
  for (const reader of leftLogs.slice(0, 5)) {
    expect([reader.ids, reader.kinds.at(-1)]).toEqual([all.slice(logs.indexOf(reader) + 1), 'end']);
  }
  for (const { had, reader } of back) {
    expect([[...had, ...reader.ids], reader.kinds.at(-1)]).toEqual([stateIds, 'end']);
    expect(reader.kinds).not.toContain('reset');
  }
  for (const reader of lost)
    expect([reader.kinds[0], reader.ids, reader.kinds.at(-1)]).toEqual(['reset', stateIds, 'end']);
  // And whoever comes after the end.
  for (const id of [undefined, String(stateIds.at(-1)), String(stateIds[0]), 'garbage']) {
    expect((await whole(path, id)).kinds.at(-1)).toBe('end');
  }
  await until(store, async () => (await openStreams()) === 0, 'nobody is left');
  await measure();
  const mb = ({ live, resident }: Memory): string =>
    `${Math.round(live / 1e6)} MB live, ${Math.round(resident / 1e6)} resident`;
  process.stderr.write(`C35: before ${mb(before)}; at most ${mb(most)}\n`);
  expect(most.live - before.live).toBeLessThan(BOUND.live);
  expect(most.resident - before.resident).toBeLessThan(BOUND.resident);
}, 120_000);
