import type { Activities } from '../../../activities';
import type { Payload } from '../../../contract';
import { startJob, type QueueKind } from '../../../queue';
import { scripted } from '../../support/payloads';
import { createRig, itemsOf, type Rig, type RigOptions } from '../../support/rig';

/** What every queue adapter owes when deliveries repeat, die, or are forgotten. */
export function deliveryConformance(queue: QueueKind): void {
  let rig: Rig;
  const open = async (options: Omit<RigOptions, 'queue'>): Promise<Rig> =>
    (rig = await createRig({ queue, ...options }));
  afterEach(() => rig.stop());

  it('runs a job once however often it is started', async () => {
    const { payload, runs } = scripted();
    await open({ payloads: [payload] });
    const { id } = await rig.submit('test.script', itemsOf(200));
    const job = (await rig.store.job(id, 'default'))!;
    await Promise.all(
      Array.from({ length: 5 }, () => startJob({ store: rig.store, queue: rig.queue, now: Date.now }, job)),
    );
    await rig.ended(id);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
  });

  it('is harmless when a unit is delivered twice at once', async () => {
    const { payload } = scripted();
    const twice = (activities: Activities): Activities => ({
      ...activities,
      runUnit: async (input, delivery) => {
        const [first] = await Promise.all([activities.runUnit(input, delivery), activities.runUnit(input, delivery)]);
        return first;
      },
    });
    await open({ payloads: [payload], wrap: twice });
    const { id } = await rig.submit(
      'test.script',
      itemsOf(300, (index) => ({ acts: index % 3 ? ['ok'] : ['fail', 'ok'] })),
    );
    const job = await rig.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', counts: { succeeded: 300 } });
  });

  it('runs what a lost unit left open again, and costs nobody an attempt', async () => {
    const { payload, runs } = scripted();
    let lost = 0;
    const losing = (activities: Activities): Activities => ({
      ...activities,
      runUnit: async (input, delivery) => {
        const result = await activities.runUnit(input, delivery);
        // The answer is lost, and with the first units the work of half of the items too.
        if (input.seq <= 3 && input.generation === 1 && ++lost) throw new Error('the delivery died');
        return result;
      },
    });
    await open({ payloads: [payload], wrap: losing });
    const { id } = await rig.submit(
      'test.script',
      itemsOf(400, (index) => ({ acts: index % 5 ? ['ok'] : ['fail', 'ok'] })),
    );
    const job = await rig.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', counts: { succeeded: 400 }, statement: { attempts: 480 } });
    expect(lost).toBeGreaterThan(0);
    expect([...runs.values()].reduce((sum, count) => sum + count, 0)).toBe(480);
  });

  it('hands back a unit whose items take longer than its budget', async () => {
    const { payload, runs } = scripted();
    const slow: Payload = {
      ...payload,
      run: async (item, ctx) => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        return payload.run!(item, ctx);
      },
    };
    await open({ payloads: [slow], env: { ITEMWISE_UNIT_BUDGET: '100ms' } });
    const { id } = await rig.submit('test.script', itemsOf(200), { options: { concurrency: 2 } });
    expect(await rig.ended(id)).toMatchObject({ counts: { succeeded: 200 } });
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
  });

  it('starts a job whose start was forgotten', async () => {
    const { payload } = scripted();
    await open({ payloads: [payload] });
    const no = await rig.store.openUpload('default');
    await rig.store.addItems(no, [{ index: 0, id: 'a', input: '{}' }]);
    await rig.store.seal(no, newJob('job-forgotten', 1));
    expect(await rig.ended('job-forgotten')).toMatchObject({ state: 'succeeded' });
  }, 30_000);

  it('goes on from the store, as another generation, when what ran the job is gone', async () => {
    const { payload, runs } = scripted();
    await open({ payloads: [payload] });
    const no = await rig.store.openUpload('default');
    await rig.store.addItems(
      no,
      itemsOf(50).map((item, index) => ({ index, id: item.id, input: '{}' })),
    );
    const { job } = await rig.store.seal(no, newJob('job-orphan', 50));
    // Its first generation got as far as ten items, and is nowhere to be found.
    await rig.store.workflowStarted(no, 1);
    const fence = { jobNo: no, generation: 1, seq: 1, delivery: 'd' };
    await rig.store.openUnit(fence, { worker: 'gone', size: 20, running: 5 });
    const settled = itemsOf(10).map((_, index) => ({
      index,
      outcome: 'succeeded' as const,
      attempts: 1,
      body: { result: { ran: 1 } },
    }));
    await rig.store.settle([
      { fence, settled, parked: [], usage: [], log: [], running: 0, progress: {}, close: false },
    ]);
    expect(await rig.ended(job.id)).toMatchObject({ state: 'succeeded', counts: { succeeded: 50 } });
    expect(runs.size).toBe(40);
    const log = await rig.store.log(no, { after: 0, limit: 50 });
    expect(log.some((line) => line.message.includes('generation 2'))).toBe(true);
  }, 60_000);
}

function newJob(id: string, items: number) {
  return {
    id,
    tenant: 'default',
    caller: 'test',
    capability: 'test.script@1',
    params: {},
    labels: {},
    plan: {
      tuning: { window: 10, unitMax: 100, batch: null },
      itemTimeoutMs: 1_000,
      maxAttempts: 3,
      backoff: { initialMs: 1, maxMs: 1_000 },
      deferral: { max: 10, maxTimeMs: 60_000 },
    },
    items,
    idempotency: null,
  };
}
