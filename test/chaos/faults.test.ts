import { join } from 'node:path';
import { FixtureVendor, type VendorOptions } from '../support/fixture-vendor/vendor';
import { Service } from '../support/service';
import { withTemporal } from '../support/temporal';

jest.setTimeout(180_000);

const HEARTBEAT_MS = 2_000;

/** Faults that people met in systems of this kind; docs/faults.md says what happens here. */
describe('faults', () => {
  let service: Service;
  let vendor: FixtureVendor;
  const open = async (options: VendorOptions = {}, env: Record<string, string> = {}): Promise<void> => {
    vendor = await new FixtureVendor(options).start();
    service = new Service({
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS']!,
      ITEMWISE_HEARTBEAT_TIMEOUT: `${HEARTBEAT_MS}ms`,
      ITEMWISE_PAYLOADS: join(__dirname, '..', 'support', 'fault-payloads.ts'),
      TEST_PAID_BASE_URL: vendor.url,
      TEST_PAGES_BASE_URL: vendor.url,
      ...env,
    });
    await service.startApi();
  };
  afterEach(async () => {
    await service.stop();
    await vendor.stop();
  });

  it('C01: no sign of life tells a dead worker: what it had started runs again elsewhere, what had ended does not', async () => {
    await open();
    const first = await service.startWorker();
    const inputs = Array.from({ length: 50 }, (_, index) => ({ ms: 1_000 + 50 * (index % 10), fails: false }));
    const { id } = await service.submit('test.flaky', inputs);
    await service.until(id, (job) => job.counts.succeeded >= 10);
    first.kill('SIGKILL');
    await first.exited;
    const killedAt = Date.now();
    const recorded = new Set((await service.results(id)).map((item) => item.id));
    const started = [...service.runs().keys()].filter((item) => !recorded.has(item));
    await service.startWorker();
    const again = (): string[] => [...service.runs()].filter(([, runs]) => runs > 1).map(([item]) => item);
    await service.until(id, () => again().length > 0);
    // A process has to start, on top of the heartbeat and the 5 s.
    expect(Date.now() - killedAt).toBeLessThan(HEARTBEAT_MS + 5_000 + 5_000);
    const job = await service.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', counts: { succeeded: 50 }, statement: { attempts: 50 } });
    expect(again().sort()).toEqual(started.sort());
  });

  it('C03: the effect is there and its record is not: the vendor is asked, charges once, and is metered once', async () => {
    let crash = (): void => undefined;
    await open({ mood: (nth) => (nth === 5 ? 'hold' : 'ok') });
    vendor.onPaid = (nth) => {
      if (nth === 5) crash();
    };
    const worker = await service.startWorker();
    crash = () => worker.crash();
    const { id } = await service.submit(
      'test.paid',
      Array.from({ length: 20 }, () => ({})),
    );
    const job = await service.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', counts: { succeeded: 20 }, statement: { attempts: 20 } });
    expect(job.statement!.usage).toEqual({ charges: 20 });
    expect(vendor.ledger.chargedTwice).toEqual([]);
    expect(vendor.ledger.charges).toHaveLength(20);
    const charged = (await service.results(id)).map((item) => (item.result as { charged: string }).charged);
    expect(new Set(charged)).toEqual(new Set(vendor.ledger.charges.map((charge) => charge.key)));
  });

  it('C14: restarts are not failures: SIGTERM again and again, and a rollover, cost no attempt', async () => {
    await open({}, { ITEMWISE_SHUTDOWN_GRACE: '200ms', ITEMWISE_ROLLOVER_EVENTS: '60' });
    let worker = await service.startWorker();
    const inputs = Array.from({ length: 200 }, (_, index) => ({ ms: 600, fails: index % 50 === 7 }));
    const { id } = await service.submit('test.flaky', inputs);
    let restarts = 0;
    for (let done = 25; done < 200; done += 50) {
      const job = await service.until(id, ({ counts, finishedAt }) => finishedAt !== null || counts.succeeded >= done);
      if (job.finishedAt !== null) break;
      const toldAt = Date.now();
      worker.kill('SIGTERM');
      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect(Date.now() - toldAt).toBeLessThan(10_000);
      worker = await service.startWorker();
      restarts++;
    }
    const job = await service.ended(id);
    expect(restarts).toBeGreaterThanOrEqual(3);
    expect(job).toMatchObject({ state: 'succeeded', counts: { succeeded: 200 }, statement: { attempts: 204 } });
    for (const item of await service.results(id))
      expect(item.attempts).toBe(Number(item.id.slice(1)) % 50 === 7 ? 2 : 1);
    const runs = await withTemporal(async (client) => {
      let count = 0;
      for await (const run of client.workflow.list({ query: `WorkflowId = '${id}'` })) count += run.runId ? 1 : 0;
      return count;
    });
    expect(runs).toBeGreaterThanOrEqual(2);
  });

  it('C15: a long item goes on where it was: a throw and a kill at page 60 of 100, and no page is paid twice', async () => {
    let crash = (): void => undefined;
    await open({ mood: (nth) => (nth === 60 ? 'hold' : 'ok') });
    vendor.onPaid = (nth) => {
      if (nth === 60) crash();
    };
    const worker = await service.startWorker();
    crash = () => worker.crash();
    const { id } = await service.submit('test.pages', [{ pages: 100, throwsAt: 60 }]);
    const job = await service.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', statement: { attempts: 2 } });
    expect(vendor.ledger.charges).toHaveLength(100);
    expect(vendor.ledger.chargedTwice).toEqual([]);
  });

  it('a worker that is killed while a cancel is under way does not keep the job open', async () => {
    await open();
    const worker = await service.startWorker();
    const { id } = await service.submit(
      'test.flaky',
      Array.from({ length: 100 }, () => ({ ms: 3_000, fails: false })),
    );
    await service.until(id, (job) => job.counts.running > 0);
    const at = Date.now();
    await service.post(`/v1/jobs/${id}/cancel`);
    worker.crash();
    const job = await service.ended(id);
    expect(Date.now() - at).toBeLessThan(20_000);
    expect(job).toMatchObject({ state: 'cancelled', cancel: { skipped: job.counts.skipped } });
  });
});
