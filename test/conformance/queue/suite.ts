import type { QueueKind } from '../../../queue';
import { QueueUnavailable } from '../../../queue';
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

    it('hears of a pause, a resume and a cancel from the sweep when the news was lost', async () => {
      const gate = gated({ concurrency: 4 });
      await open({ payloads: [gate.payload] });
      gate.open();
      const told = jest.spyOn(rig.queue, 'notify');
      const lost = (): unknown => told.mockRejectedValueOnce(new QueueUnavailable('away'));
      const started = signal();
      gate.onStart = () => started.resolve();
      const { id } = await rig.submit('test.gate', itemsOf(5_000));
      await started.promise;
      lost();
      await rig.post(`/v1/jobs/${id}/pause`);
      await until(rig.store, async () => (await rig.job(id)).counts.running === 0, 'nothing runs');
      expect((await rig.job(id)).counts.pending).toBeGreaterThan(0);
      lost();
      await rig.post(`/v1/jobs/${id}/resume`);
      const { succeeded } = (await rig.job(id)).counts;
      await until(rig.store, async () => (await rig.job(id)).counts.succeeded > succeeded, 'it goes on');
      lost();
      await rig.post(`/v1/jobs/${id}/cancel`);
      expect(['cancelled', 'succeeded']).toContain((await rig.ended(id)).state);
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
}
