import { Defer, definePayload, z, type Payload } from '../../contract';
import type { Activities } from '../../activities';
import { gated } from '../support/payloads';
import { createRig, itemsOf, signal, until, type Rig } from '../support/rig';
import { slowVendor } from '../support/slow-vendor';
import { withTemporal } from '../support/temporal';

jest.setTimeout(90_000);

/** How often a job's workflow was continued as new, and once more. */
function countRuns(id: string): Promise<number> {
  return withTemporal(async (client) => {
    let runs = 0;
    for await (const run of client.workflow.list({ query: `WorkflowId = '${id}'` })) runs += run.runId ? 1 : 0;
    return runs;
  });
}

/** A cancel ends a job within this, unless a payload is deaf, nobody lives, or the workflow was terminated; ms. */
const SOON_MS = 3_000;

describe('a cancel, wherever it finds a job', () => {
  let rig: Rig;
  afterEach(() => rig.stop());

  /** Cancels, and how long it took until the job had ended, ms. */
  const cancel = async (id: string): Promise<{ job: Awaited<ReturnType<Rig['ended']>>; took: number }> => {
    const at = Date.now();
    await rig.post(`/v1/jobs/${id}/cancel`);
    const job = await rig.ended(id);
    return { job, took: Date.now() - at };
  };

  describe('C04: nobody looks for a cancel in a back-off, a wait or a deferral', () => {
    const calls = (act: () => never): { payload: Payload; count: () => number } => {
      let count = 0;
      const payload = definePayload({
        name: 'test.park',
        version: 1,
        vocabulary: [],
        input: z.looseObject({}),
        result: z.object({}),
        limits: { backoff: { initial: '10m', max: '10m' } },
        run: () => {
          count++;
          return act();
        },
      });
      return { payload, count: () => count };
    };
    it.each([
      [
        'a back-off of ten minutes',
        'waiting' as const,
        () => {
          throw new Error('503');
        },
      ],
      [
        'a deferral of ten minutes',
        'deferred' as const,
        () => {
          throw new Defer('429', { after: 600_000 });
        },
      ],
    ])('%s ends within seconds, and the vendor is not called again', async (_, state, act) => {
      const vendor = calls(act);
      rig = await createRig({ queue: 'activity', payloads: [vendor.payload] });
      const { id } = await rig.submit('test.park', itemsOf(20));
      await until(rig.store, async () => (await rig.job(id)).counts[state] === 20, 'all are parked');
      const { job, took } = await cancel(id);
      expect(took).toBeLessThan(SOON_MS);
      expect(job).toMatchObject({ state: 'cancelled', cancel: { skipped: 20, running: 0, stopped: 0 } });
      expect(vendor.count()).toBe(20);
    });

    it('a wait ends within seconds, and the vendor is told and not asked again', async () => {
      const vendor = slowVendor({ answersAfter: 1_000, every: 600_000 });
      rig = await createRig({ queue: 'activity', payloads: [vendor.payload] });
      const { id } = await rig.submit('test.wait', itemsOf(20));
      await until(rig.store, async () => (await rig.job(id)).counts.waiting === 20, 'all wait');
      const { job, took } = await cancel(id);
      expect(took).toBeLessThan(SOON_MS);
      expect(job).toMatchObject({ cancel: { skipped: 20, vendorCancels: { sent: 20, failed: 0 } } });
      expect([vendor.requests, vendor.starts.length]).toEqual([0, 20]);
    });
  });

  it('C05: a late cancel is billed: what runs hears of it within 300 ms, nothing starts, what finishes counts once', async () => {
    const [told, started, charged]: [number[], string[], string[]] = [[], [], []];
    const enough = signal();
    let cancelledAt = 0;
    const payload = definePayload({
      name: 'test.page',
      version: 1,
      vocabulary: [],
      input: z.object({ deaf: z.boolean() }),
      result: z.object({}),
      limits: { concurrency: 10 },
      run: async (item, ctx) => {
        started.push(item.id);
        if (charged.length >= 30) enough.resolve();
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(resolve, item.input.deaf ? 3_000 : 150);
          ctx.signal.addEventListener('abort', () => {
            told.push(Date.now() - cancelledAt);
            if (item.input.deaf) return;
            clearTimeout(timer);
            reject(ctx.signal.reason as Error);
          });
        });
        await ctx.vendor('acme').call('page', ({ key }) => void charged.push(key));
        ctx.meter('pages', 1, { key: 'page' });
        return {};
      },
    });
    rig = await createRig({ queue: 'activity', payloads: [payload] });
    const { id } = await rig.submit(
      'test.page',
      itemsOf(100, (index) => ({ deaf: index >= 30 && index < 40 })),
    );
    await enough.promise;
    cancelledAt = Date.now();
    await rig.post(`/v1/jobs/${id}/cancel`);
    const startedBy = started.length;
    const job = await rig.ended(id);
    const { succeeded, skipped } = job.counts;
    expect(succeeded + skipped).toBe(100);
    // One round trip of the API lies between the row and the list that is looked at here.
    expect(started.length - startedBy).toBeLessThanOrEqual(10);
    expect(new Set(charged).size).toBe(charged.length);
    expect(charged).toHaveLength(succeeded);
    expect(job.statement!.usage).toEqual({ pages: succeeded });
    told.sort((a, b) => a - b);
    expect(told.length).toBeGreaterThan(0);
    expect(told[Math.floor(told.length / 2)]).toBeLessThan(300);
  });

  it('finds items in flight that react: they hear of it within 300 ms in the median', async () => {
    const gate = gated({ concurrency: 50 });
    rig = await createRig({ queue: 'activity', payloads: [gate.payload] });
    const started = signal();
    gate.onStart = () => gate.started.length === 50 && started.resolve();
    const { id } = await rig.submit('test.gate', itemsOf(500));
    await started.promise;
    const heard: number[] = [];
    const at = Date.now();
    gate.onCancel = () => heard.push(Date.now() - at);
    const { job, took } = await cancel(id);
    heard.sort((a, b) => a - b);
    expect(heard).toHaveLength(50);
    expect(heard[25]).toBeLessThan(300);
    expect(took).toBeLessThan(SOON_MS);
    expect(job).toMatchObject({ state: 'cancelled', cancel: { skipped: 500, stopped: 50 } });
    expect(job.cancel!.running).toBeGreaterThan(0);
  });

  it('finds items in flight that are deaf: ends within 20 s without them', async () => {
    const gate = gated({ deaf: true, concurrency: 5, itemTimeout: 600_000 });
    rig = await createRig({ queue: 'activity', payloads: [gate.payload] });
    const started = signal();
    gate.onStart = () => gate.started.length === 5 && started.resolve();
    const { id } = await rig.submit('test.gate', itemsOf(20));
    await started.promise;
    const { job, took } = await cancel(id);
    expect(took).toBeLessThan(20_000);
    expect(job).toMatchObject({ state: 'cancelled', counts: { skipped: 20 }, cancel: { stopped: 5 } });
    gate.open();
  });

  it('finds the job closing: it ends by its outcomes, and is not cancelled', async () => {
    const gate = gated({ concurrency: 5 });
    const [closing, goOn] = [signal(), signal()];
    const wrap = (activities: Activities): Activities => ({
      ...activities,
      finalize: async (input) => {
        closing.resolve();
        await goOn.promise;
        return activities.finalize(input);
      },
    });
    rig = await createRig({ queue: 'activity', payloads: [gate.payload], wrap });
    gate.open();
    const { id } = await rig.submit('test.gate', itemsOf(5));
    await closing.promise;
    await rig.post(`/v1/jobs/${id}/cancel`);
    goOn.resolve();
    expect(await rig.ended(id)).toMatchObject({ state: 'succeeded', counts: { succeeded: 5, skipped: 0 } });
  });

  it('finds the job at a rollover: it is not lost between two runs of the workflow', async () => {
    const payload = definePayload({
      name: 'test.nap',
      version: 1,
      vocabulary: [],
      input: z.looseObject({}),
      result: z.object({}),
      run: () => new Promise<Record<string, never>>((resolve) => setTimeout(() => resolve({}), 20)),
    });
    rig = await createRig({ queue: 'activity', payloads: [payload], env: { ITEMWISE_ROLLOVER_EVENTS: '50' } });
    const ids = await Promise.all(
      Array.from({ length: 4 }, async () => (await rig.submit('test.nap', itemsOf(5_000))).id),
    );
    // From here on every one of them rolls over every few units, and each cancel meets another moment of it.
    await until(rig.store, async () => (await countRuns(ids[0]!)) >= 2, 'a job has rolled over');
    const ends = await Promise.all(ids.map((id) => cancel(id)));
    for (const { job, took } of ends) {
      expect(job).toMatchObject({ state: 'cancelled' });
      expect(took).toBeLessThan(SOON_MS);
    }
  });

  it('finds a terminated workflow with calls and waits open: a worker settles them all the same', async () => {
    const vendor = slowVendor({ answersAfter: 1_000, every: 600_000 });
    rig = await createRig({ queue: 'activity', payloads: [vendor.payload] });
    const { id } = await rig.submit('test.wait', itemsOf(20));
    await until(rig.store, async () => (await rig.job(id)).counts.waiting === 20, 'all wait');
    const at = Date.now();
    await withTemporal((client) => client.workflow.getHandle(id).terminate('enough'));
    const job = await rig.ended(id);
    expect(Date.now() - at).toBeLessThan(20_000);
    expect(job).toMatchObject({ state: 'cancelled', cancel: { vendorCancels: { sent: 20, failed: 0 } } });
    expect(vendor.cancelled).toHaveLength(20);
  });
});
