import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Service, type WorkerProc } from '../support/service';

jest.setTimeout(180_000);

const HEARTBEAT_MS = 2_000;

describe('items and what they do to their worker', () => {
  let service: Service;
  beforeEach(() => {
    service = new Service({
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS']!,
      ITEMWISE_HEARTBEAT_TIMEOUT: `${HEARTBEAT_MS}ms`,
    });
  });
  afterEach(() => service.stop());

  const submit = async (n: number, inputOf: (index: number) => object = () => ({})): Promise<string> => {
    const inputs = Array.from({ length: n }, (_, index) => ({ ms: 200, ...inputOf(index) }));
    return (await service.submit('test.poison', inputs)).id;
  };
  const allRuns = (): number => [...service.runs().values()].reduce((sum, runs) => sum + runs, 0);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await sleep(20);
  };
  const logOf = async (id: string): Promise<string[]> => {
    const { lines } = await service.get<{ lines: { message: string }[] }>(`/v1/jobs/${id}/log`);
    return lines.map((line) => line.message);
  };

  it.each([
    ['allocates', 'out_of_memory', /ran out of memory \(V8 heap limit \d+ MB\)/, '--max-old-space-size=200'],
    ['exits', 'exited', /exit code 3/, ''],
    ['rejects', 'unhandled_rejection', /nobody waits for this/, ''],
    ['blocks', 'event_loop_blocked', /event loop was blocked for 2000 ms/, ''],
    ['kills itself', 'killed', /SIGKILL/, ''],
  ])(
    'C29: one poisonous item of a hundred that %s fails alone, with the reason: %s',
    async (deed, code, message, nodeOptions) => {
      await service.startApi();
      await service.startWorker({ NODE_OPTIONS: nodeOptions });
      const id = await submit(100, (index) => (index === 42 ? { deed } : {}));
      const job = await service.ended(id, 120_000);
      expect(job).toMatchObject({ state: 'completed_with_errors', counts: { succeeded: 99, failed: 1 } });
      for (const item of await service.results(id)) {
        if (item.id !== 'i42') expect(item).toMatchObject({ state: 'succeeded', attempts: 1 });
        else expect(item).toMatchObject({ state: 'failed', error: { code, message: expect.stringMatching(message) } });
      }
      // Once with the others, and twice alone.
      expect(service.runs().get('i42')).toBe(3);
      expect((await logOf(id)).filter((line) => message.test(line))).not.toEqual([]);
    },
  );

  it('a worker that is stopped for longer than a heartbeat and goes on is not killed: every item ends once', async () => {
    await service.startApi();
    const worker = await service.startWorker();
    const id = await submit(300);
    await service.until(id, (job) => job.counts.succeeded >= 50);
    const { workerPid } = worker;
    worker.crash('SIGSTOP');
    await sleep(2 * HEARTBEAT_MS);
    worker.crash('SIGCONT');
    const job = await service.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', counts: { succeeded: 300 } });
    expect((await service.results(id)).map((item) => item.attempts)).toEqual(Array(300).fill(1));
    expect(worker.workerPid).toBe(workerPid);
  });

  it('what had started in a worker that crashes runs again within the heartbeat time-out and 5 s', async () => {
    await service.startApi();
    const worker = await service.startWorker();
    const id = await submit(600);
    await service.until(id, (job) => job.counts.succeeded >= 100);
    const { workerPid } = worker;
    const crashedAt = Date.now();
    worker.crash();
    await until(() => !isRunning(workerPid));
    const before = allRuns();
    await until(() => allRuns() > before);
    expect(Date.now() - crashedAt).toBeLessThan(HEARTBEAT_MS + 5_000);
    expect(worker.workerPid).not.toBe(workerPid);
    const job = await service.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', statement: { items: 600, attempts: 600 } });
  });

  it('a worker whose supervisor dies hands back what it has not started, and ends', async () => {
    await service.startApi();
    const worker: WorkerProc = await service.startWorker();
    const id = await submit(300);
    await service.until(id, (job) => job.counts.succeeded >= 50);
    process.kill(worker.pid, 'SIGKILL');
    await until(() => !isRunning(worker.workerPid));
    await service.startWorker();
    const job = await service.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', statement: { attempts: 300 } });
    expect([...service.runs().values()].every((runs) => runs === 1)).toBe(true);
  });
});

/** One that has ended and waits to be collected is not. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
