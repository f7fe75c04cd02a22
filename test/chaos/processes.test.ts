import { Service } from '../support/service';

jest.setTimeout(180_000);

const everyItemOnce = (service: Service, id: string, n: number): Promise<void> =>
  service.results(id).then((results) => {
    expect(results).toHaveLength(n);
    expect(new Set(results.map((item) => item.id)).size).toBe(n);
  });

describe('real processes, killed in the middle of a job', () => {
  let service: Service;
  beforeEach(() => {
    service = new Service({
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS']!,
      ITEMWISE_HEARTBEAT_TIMEOUT: '2s',
    });
  });
  afterEach(() => service.stop());

  it('a worker is killed with -9 and another started: every item ends once, what had ended is not run again', async () => {
    await service.startApi();
    const first = await service.startWorker();
    const { id } = await service.submit(
      'test.work',
      // Of uneven length, so that there is no moment at which nothing runs.
      Array.from({ length: 600 }, (_, index) => ({ ms: 100 + 20 * (index % 11) })),
    );
    await service.until(id, (job) => job.counts.succeeded >= 150);
    first.kill('SIGKILL');
    await first.exited;
    const { succeeded: before } = (await service.get(`/v1/jobs/${id}`)).counts;
    const recorded = new Set((await service.results(id)).map((item) => item.id));
    const unfinished = [...service.runs().keys()].filter((item) => !recorded.has(item));
    const killedAt = Date.now();
    await service.startWorker();
    await service.until(id, (job) => job.counts.succeeded > before);
    // Lost units are noticed by their heartbeat (2 s here) and go on within 5 s; the rest is for a process to start.
    expect(Date.now() - killedAt).toBeLessThan(2_000 + 5_000 + 8_000);
    const job = await service.ended(id);
    expect(job).toMatchObject({
      state: 'succeeded',
      counts: { succeeded: 600 },
      statement: { items: 600, attempts: 600 },
    });
    await everyItemOnce(service, id, 600);
    const runs = service.runs();
    // Again ran exactly what had started and was not recorded: what was in flight, or had ended just before.
    const again = [...runs].filter(([, count]) => count > 1).map(([item]) => item);
    expect(new Set(again)).toEqual(new Set(unfinished));
    expect(unfinished.length).toBeLessThanOrEqual(50 + 50 * 4);
    expect(Math.max(...runs.values())).toBeLessThanOrEqual(2);
  });

  it.each([
    ['a supervisor gets SIGTERM', false],
    ['a supervisor and its worker get SIGTERM, as from a service manager', true],
  ])('%s: what is not started is handed back, no attempt lost, and it exits in time', async (_, both) => {
    await service.startApi();
    const first = await service.startWorker();
    const { id } = await service.submit(
      'test.work',
      Array.from({ length: 600 }, () => ({ ms: 100 })),
    );
    await service.until(id, (job) => job.counts.succeeded >= 100);
    const toldAt = Date.now();
    if (both) first.crash('SIGTERM');
    first.kill('SIGTERM');
    expect(await first.exited).toEqual({ code: 0, signal: null });
    expect(Date.now() - toldAt).toBeLessThan(10_000);
    await service.startWorker();
    const job = await service.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', statement: { attempts: 600 } });
    expect([...service.runs().values()].every((count) => count === 1)).toBe(true);
  });

  it('a cancel with no worker alive closes the job', async () => {
    await service.startApi();
    const worker = await service.startWorker();
    const { id } = await service.submit(
      'test.work',
      Array.from({ length: 200 }, () => ({ ms: 500 })),
    );
    await service.until(id, (job) => job.counts.running > 0);
    worker.kill('SIGKILL');
    await worker.exited;
    const askedAt = Date.now();
    await service.post(`/v1/jobs/${id}/cancel`);
    const job = await service.ended(id);
    expect(job.state).toBe('cancelled');
    expect(job.counts.skipped + job.counts.succeeded).toBe(200);
    // A worker counts as dead 15 s after its last sign of life.
    expect(Date.now() - askedAt).toBeLessThan(20_000);
  });

  it('an API that is killed in the middle of an upload leaves nothing of it to be seen', async () => {
    const api = await service.startApi();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const lines = Array.from({ length: 2_500 }, (_, index) => `{"id":"i${index}","input":{"ms":1}}\n`).join('');
        controller.enqueue(new TextEncoder().encode(lines));
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body, duplex: 'half' };
    const upload = fetch(`${service.url}/v1/jobs?capability=test.work`, init as RequestInit);
    api.kill('SIGKILL');
    await expect(upload).rejects.toThrow();
    await service.startApi();
    expect(await service.get('/v1/jobs')).toEqual({ jobs: [], next: null });
  });
});
