import { gated } from '../support/payloads';
import { createRig, itemsOf, signal, type Rig } from '../support/rig';
import { withTemporal } from '../support/temporal';

jest.setTimeout(90_000);

describe("a job that a person ends with Temporal's own tools", () => {
  let rig: Rig;
  afterEach(() => rig.stop());

  const running = async (): Promise<string> => {
    const gate = gated({ concurrency: 10 });
    rig = await createRig({ queue: 'activity', payloads: [gate.payload] });
    const started = signal();
    gate.onStart = () => gate.started.length === 10 && started.resolve();
    const { id } = await rig.submit('test.gate', itemsOf(100));
    await started.promise;
    return id;
  };

  it.each(['while it runs', 'after a pause and a resume'])('is cancelled by a cancel, %s', async (when) => {
    const id = await running();
    if (when.includes('pause')) {
      await rig.post(`/v1/jobs/${id}/pause`);
      await rig.post(`/v1/jobs/${id}/resume`);
    }
    const at = Date.now();
    await withTemporal((client) => client.workflow.getHandle(id).cancel());
    const job = await rig.ended(id);
    expect(Date.now() - at).toBeLessThan(5_000);
    expect(job).toMatchObject({ state: 'cancelled', counts: { skipped: 100 }, cancel: { by: 'temporal' } });
    // The workflow itself completes: it had items to settle.
    await withTemporal((client) => client.workflow.getHandle(id).result());
  });

  it('is cancelled while it is paused', async () => {
    const id = await running();
    await rig.post(`/v1/jobs/${id}/pause`);
    await withTemporal((client) => client.workflow.getHandle(id).cancel());
    expect(await rig.ended(id)).toMatchObject({ state: 'cancelled', cancel: { by: 'temporal' } });
  });

  it('is cancelled by a terminate, which the sweep notices', async () => {
    const id = await running();
    await withTemporal((client) => client.workflow.getHandle(id).terminate('enough'));
    const job = await rig.ended(id);
    expect(job).toMatchObject({ state: 'cancelled', cancel: { by: 'terminated in Temporal' } });
    expect(job.counts.skipped + job.counts.succeeded).toBe(100);
  });
});
