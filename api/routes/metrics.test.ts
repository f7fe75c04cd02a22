import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { QueueUnavailable } from '../../queue';
import { StoreUnavailable } from '../../store';
import { scripted } from '../../test/support/payloads';
import { until } from '../../test/support/rig';
import { readEvents } from '../fixtures/event-reader';
import { call, ended, submit } from '../fixtures/http';
import { idleQueue, openTestApi, type TestApi, type TestApiOptions } from '../fixtures/test-api';
import { PROCESS_METRICS, STORE_METRICS } from '../metrics/definitions';

let api: TestApi | undefined;
afterEach(() => api?.stop());
const open = async (options: TestApiOptions = {}): Promise<TestApi> => (api = await openTestApi(options));

/** The samples by name and labels, as they are written. */
async function scrape(url: string): Promise<Map<string, number>> {
  const answer = await call(url, '/metrics');
  expect([answer.status, answer.headers['content-type']]).toEqual([
    200,
    expect.stringMatching(/^text\/plain; version=/),
  ]);
  const samples = answer.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

/** Scrapes until they are as wanted: a scrape may be a second old. */
async function scrapeUntil(holds: (samples: Map<string, number>) => boolean): Promise<Map<string, number>> {
  let samples = new Map<string, number>();
  await until(api!.store, async () => holds((samples = await scrape(api!.url))), 'the metrics are as wanted');
  return samples;
}

const away = (): Promise<never> => Promise.reject(new StoreUnavailable('the disk is gone'));

describe('/metrics', () => {
  it('counts jobs and items by state, workers, calls of the store, and what the process is like', async () => {
    const { url } = await open({ worker: true, payloads: [scripted().payload] });
    await ended(url, (await submit(url, [{ id: 'a', input: {} }])).id);
    await ended(url, (await submit(url, [{ id: 'a', input: { acts: ['reject'] } }])).id);
    await submit(url, [
      { id: 'a', input: {} },
      { id: 'b', input: { acts: ['defer'] } },
    ]);
    const samples = await scrapeUntil((found) =>
      ['deferred', 'succeeded'].every((state) => found.get(`itemwise_items{state="${state}"}`) === 1),
    );
    expect(Object.fromEntries(samples)).toMatchObject({
      itemwise_store_up: 1,
      'itemwise_jobs{state="succeeded"}': 1,
      'itemwise_jobs{state="failed"}': 1,
      'itemwise_jobs{state="running"}': 1,
      'itemwise_jobs{state="paused"}': 0,
      'itemwise_items{state="succeeded"}': 1,
      'itemwise_items_parked{kind="defer",code="deferred"}': 1,
      itemwise_jobs_stuck: 0,
      itemwise_workers: 1,
      itemwise_event_streams: 0,
      itemwise_dead_letters_open: 0,
      'itemwise_sweep_repairs_total{kind="workflow_gone"}': 0,
    });
    expect(samples.get('itemwise_worker_memory_max_bytes')).toBeGreaterThan(1e6);
    expect(samples.get('itemwise_store_operation_duration_seconds_count{kind="read"}')).toBeGreaterThan(3);
    expect(samples.get('itemwise_store_operation_duration_seconds_count{kind="write"}')).toBeGreaterThan(3);
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(samples.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
    // In the process itself there is no Temporal to be slow.
    expect([...samples.keys()].filter((name) => name.startsWith('itemwise_temporal_call'))).toEqual([]);
  });

  it('answers where the store is away, and leaves out what nobody knows', async () => {
    const { url } = await open({ wrapStore: (store) => ({ ...store, gauges: away, job: away }) });
    await call(url, '/v1/jobs/j');
    const samples = await scrape(url);
    expect(samples.get('itemwise_store_up')).toBe(0);
    expect(samples.get('itemwise_store_errors_total{kind="read"}')).toBe(1);
    const told = [...samples.keys()].map((name) => name.replace(/\{.*/, ''));
    expect(Object.keys(STORE_METRICS).filter((name) => told.includes(name))).toEqual(['itemwise_store_up']);
  });

  it('answers within its deadline where the store does not answer at all', async () => {
    const { url } = await open({
      wrapStore: (store) => ({ ...store, gauges: () => new Promise<never>(() => undefined) }),
    });
    const from = performance.now();
    expect((await scrape(url)).get('itemwise_store_up')).toBe(0);
    expect(performance.now() - from).toBeLessThan(4_000);
  });

  it('knows how long Temporal takes, and when it is away', async () => {
    const gone = (): Promise<never> => Promise.reject(new QueueUnavailable('nobody listens there'));
    const queue = idleQueue({ kind: 'activity', start: gone, ailment: () => Promise.resolve('nobody listens there') });
    const { url } = await open({ queue });
    await submit(url, [{ id: 'a', input: {} }]);
    await call(url, '/health/ready');
    const samples = await scrape(url);
    for (const kind of ['start', 'check']) {
      expect(samples.get(`itemwise_temporal_call_duration_seconds_count{call="${kind}"}`)).toBe(1);
      expect(samples.get(`itemwise_temporal_errors_total{call="${kind}"}`)).toBe(1);
    }
  });

  it('reads the store once a second, however many ask', async () => {
    let reads = 0;
    const { url } = await open({ wrapStore: (store) => ({ ...store, gauges: () => (reads++, store.gauges()) }) });
    const from = performance.now();
    await Promise.all(Array.from({ length: 50 }, () => scrape(url)));
    expect(reads).toBeLessThanOrEqual(1 + Math.floor((performance.now() - from) / 1_000));
  });

  it('counts streams while they are open', async () => {
    const { url } = await open();
    const { id } = await submit(url, [{ id: 'a', input: {} }]);
    const reader = await readEvents(url, id);
    await reader.find(({ event }) => event === 'job');
    await scrapeUntil((samples) => samples.get('itemwise_event_streams') === 1);
    reader.destroy();
    await scrapeUntil((samples) => samples.get('itemwise_event_streams') === 0);
  });

  it('counts what the sweep repairs', async () => {
    // A job that was sealed and not started; its queue forgot it.
    const { url, store } = await open({ worker: true, env: { ITEMWISE_SWEEP_EVERY: '200ms' } });
    const upload = await store.openUpload('default');
    await store.addItems(upload, [{ index: 0, id: 'a', input: '{}' }]);
    const { id } = await submit(url, [{ id: 'a', input: {} }]);
    const plan = (await store.job(id, 'default'))!.plan;
    const job = {
      id: 'job-x',
      tenant: 'default',
      caller: 'c',
      capability: 'test.script@1',
      params: {},
      labels: {},
      plan,
    };
    await store.seal(upload, { ...job, items: 1, idempotency: null });
    await scrapeUntil((samples) => samples.get('itemwise_sweep_repairs_total{kind="unstarted"}') === 1);
  });
});

describe('docs/metrics.md', () => {
  const docs = readFileSync(join(__dirname, '..', '..', 'docs', 'metrics.md'), 'utf8').replace(/ +/g, ' ');

  it('has every metric with its kind, labels and meaning, and no other', () => {
    const rows = docs.split('\n').filter((line) => line.startsWith('| `itemwise_'));
    const wanted = Object.entries({ ...STORE_METRICS, ...PROCESS_METRICS }).map(([name, { type, labels, help }]) => {
      const shown = labels.map((label) => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${type} | ${shown}${shown && ' '}| ${help} |`;
    });
    expect(rows.map((row) => row.split('|').slice(0, 5).join('|') + '|')).toEqual(wanted);
    for (const row of rows) expect(row.split('|')[5]?.trim()).not.toBe('');
  });
});
