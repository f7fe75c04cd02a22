import type { Activities } from '../../../activities';
import type { Payload } from '../../../contract';
import type { QueueKind } from '../../../queue';
import { startJob } from '../../../queue';
import { gated, scripted, type Act } from '../../support/payloads';
import { createRig, itemsOf, signal, until, type Rig, type RigOptions } from '../../support/rig';

/** What every queue adapter owes, seen through the HTTP surface. */
export function queueConformance(queue: QueueKind): void {
  let rig: Rig;
  const open = async (options: Omit<RigOptions, 'queue'>): Promise<Rig> =>
    (rig = await createRig({ queue, ...options }));
  afterEach(() => rig.stop());

  const run = async (acts: Act[], more: object = {}) => {
    const { payload, runs } = scripted();
    await open({ payloads: [payload] });
    const { id } = await rig.submit('test.script', [{ id: 'a', input: { acts } }], more);
    const job = await rig.ended(id);
    const [item] = await rig.items(id);
    return { job, item: item!, runs: runs.get('a') };
  };

  describe('running', () => {
    it('ends every item and closes with an account that adds up', async () => {
      const { payload, runs } = scripted();
      await open({ payloads: [payload] });
      const { id, state } = await rig.submit('test.script', itemsOf(2_345));
      expect(state).toBe('accepted');
      const job = await rig.ended(id);
      expect(job).toMatchObject({
        state: 'succeeded',
        counts: {
          succeeded: 2_345,
          pending: 0,
          running: 0,
          waiting: 0,
          deferred: 0,
          failed: 0,
          needs_review: 0,
          skipped: 0,
        },
        statement: { items: 2_345, attempts: 2_345 },
      });
      expect([...runs.values()].every((count) => count === 1)).toBe(true);
      expect(new Set((await rig.items(id)).map((item) => item.state))).toEqual(new Set(['succeeded']));
    });

    it('retries what fails and keeps the count of attempts on the outcome', async () => {
      const { job, item, runs } = await run(['fail', 'fail', 'ok']);
      expect(job.state).toBe('succeeded');
      expect(item).toMatchObject({ state: 'succeeded', attempts: 3, result: { ran: 3 } });
      expect(runs).toBe(3);
    });

    it('fails an item whose attempts are spent, with its own code', async () => {
      const { job, item, runs } = await run(['fail'], { options: { maxAttempts: 2 } });
      expect(job.state).toBe('failed');
      expect(item).toMatchObject({ state: 'failed', attempts: 2, error: { code: 'boom', message: 'it did not work' } });
      expect(runs).toBe(2);
    });

    it('ends a rejected item on its first attempt', async () => {
      const { item, runs } = await run(['reject']);
      expect(item).toMatchObject({ state: 'failed', attempts: 1, error: { code: 'hopeless' } });
      expect(runs).toBe(1);
    });

    it('brings a deferred item back without counting an attempt', async () => {
      const { item, runs } = await run(['defer', 'defer', 'ok']);
      expect(item).toMatchObject({ state: 'succeeded', attempts: 1 });
      expect(runs).toBe(3);
    });

    it('ends an item for review with its reason and draft', async () => {
      const { job, item } = await run(['review']);
      expect(job.state).toBe('succeeded');
      expect(item).toMatchObject({ state: 'needs_review', reason: 'look at this', draft: { ran: 1 } });
    });

    it('fails an input that does not fit alone, with the path', async () => {
      const { payload } = scripted();
      await open({ payloads: [payload] });
      const { id } = await rig.submit('test.script', [
        { id: 'bad', input: { acts: ['ok', 'dance'] } },
        { id: 'good', input: {} },
      ]);
      expect((await rig.ended(id)).state).toBe('completed_with_errors');
      const [bad, good] = await rig.items(id);
      expect(bad).toMatchObject({
        state: 'failed',
        attempts: 0,
        error: { code: 'input_invalid', issues: [{ path: 'acts.1' }] },
      });
      expect(good!.state).toBe('succeeded');
    });
  });

  describe('cancelling', () => {
    it('before anything ran: every item is skipped, and a second cancel changes nothing', async () => {
      const gate = gated();
      await open({ payloads: [gate.payload] });
      const { id } = await rig.submit('test.gate', itemsOf(100));
      await rig.post(`/v1/jobs/${id}/cancel`);
      const job = await rig.ended(id);
      expect(job.state).toBe('cancelled');
      expect(job.counts.skipped + job.counts.succeeded).toBe(100);
      expect(await rig.post(`/v1/jobs/${id}/cancel`)).toMatchObject({ state: 'cancelled', counts: job.counts });
    });

    it('while items run: they hear it, what did not start is skipped, what had ended keeps its outcome', async () => {
      const gate = gated({ concurrency: 10 });
      await open({ payloads: [gate.payload] });
      const started = signal();
      gate.onStart = () => gate.started.length === 10 && started.resolve();
      const { id } = await rig.submit('test.gate', itemsOf(100));
      await started.promise;
      const at = Date.now();
      await rig.post(`/v1/jobs/${id}/cancel`);
      const job = await rig.ended(id);
      expect(Date.now() - at).toBeLessThan(5_000);
      expect(job).toMatchObject({ state: 'cancelled', counts: { skipped: 100 }, cancel: { by: 'local' } });
      expect(gate.started).toHaveLength(10);
      expect((await rig.items(id))[0]).toMatchObject({ state: 'skipped', reason: 'cancelled' });
    });

    it('lets an item that finishes all the same have its real outcome', async () => {
      const gate = gated({ deaf: true, concurrency: 3 });
      await open({ payloads: [gate.payload] });
      const started = signal();
      gate.onStart = () => gate.started.length === 3 && started.resolve();
      const { id } = await rig.submit('test.gate', itemsOf(10));
      const heard = signal();
      let told = 0;
      gate.onCancel = () => ++told === 3 && heard.resolve();
      await started.promise;
      await rig.post(`/v1/jobs/${id}/cancel`);
      await heard.promise;
      gate.open();
      const job = await rig.ended(id);
      expect(job).toMatchObject({ state: 'cancelled', counts: { succeeded: 3, skipped: 7 } });
    });

    it('while items wait for another attempt: they are not tried again', async () => {
      const { payload, runs } = scripted();
      await open({
        payloads: [{ ...payload, limits: { ...payload.limits, backoff: { initialMs: 600_000, maxMs: 600_000 } } }],
      });
      const { id } = await rig.submit(
        'test.script',
        itemsOf(5, () => ({ acts: ['fail'] })),
      );
      await until(rig.store, async () => (await rig.job(id)).counts.waiting === 5, 'all wait for another attempt');
      await rig.post(`/v1/jobs/${id}/cancel`);
      const job = await rig.ended(id);
      expect(job).toMatchObject({ state: 'cancelled', counts: { skipped: 5 } });
      expect([...runs.values()]).toEqual([1, 1, 1, 1, 1]);
      expect((await rig.items(id))[0]).toMatchObject({ attempts: 1 });
    });

    it('after the end: nothing changes', async () => {
      const { job } = await run(['ok']);
      expect(await rig.post(`/v1/jobs/${job.id}/cancel`)).toEqual(job);
    });
  });

  describe('pausing', () => {
    it('sends nothing new, lets what runs finish, and goes on when resumed', async () => {
      const gate = gated({ concurrency: 4 });
      await open({ payloads: [gate.payload] });
      const started = signal();
      gate.onStart = () => gate.started.length === 4 && started.resolve();
      const { id } = await rig.submit('test.gate', itemsOf(40));
      await started.promise;
      expect(await rig.post(`/v1/jobs/${id}/pause`)).toMatchObject({ state: 'paused' });
      gate.open();
      await until(rig.store, async () => (await rig.job(id)).counts.running === 0, 'nothing runs');
      const paused = await rig.job(id);
      expect(paused.state).toBe('paused');
      expect(paused.counts.pending).toBeGreaterThan(0);
      await rig.post(`/v1/jobs/${id}/resume`);
      expect(await rig.ended(id)).toMatchObject({ state: 'succeeded', counts: { succeeded: 40 } });
      expect(new Set(gate.started).size).toBe(40);
    });

    it('can be cancelled while paused', async () => {
      const gate = gated({ concurrency: 2 });
      await open({ payloads: [gate.payload] });
      const { id } = await rig.submit('test.gate', itemsOf(20));
      await rig.post(`/v1/jobs/${id}/pause`);
      await rig.post(`/v1/jobs/${id}/cancel`);
      gate.open();
      const job = await rig.ended(id);
      expect(job.state).toBe('cancelled');
    });
  });

  describe('delivering', () => {
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
  });
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
