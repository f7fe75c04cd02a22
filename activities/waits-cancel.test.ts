import { latch } from '../test/support/latch';
import { UnitRig, states } from '../test/support/unit-rig';
import { SlowVendor, waitingFor } from './fixtures/waiting';

describe('a cancel', () => {
  it('of a job that waits asks the vendor to stop, and skips with the remote id', async () => {
    const vendor = new SlowVendor();
    const rig = await UnitRig.open(waitingFor(vendor, { checkBatch: 2 }));
    const job = await rig.submit(['a', 'b', 'c']);
    await rig.run(job);
    await rig.cancel(job);
    await rig.activities.settle({ jobId: job.id, jobNo: job.no, generation: 1 });
    expect(vendor.cancelled.sort()).toEqual(['r-a', 'r-b', 'r-c']);
    const items = await rig.views(job);
    expect(states(items)).toEqual(['skipped', 'skipped', 'skipped']);
    expect(items[0]!.body).toEqual({ reason: 'cancelled', remoteId: 'r-a' });
    expect(await rig.store.jobByNo(job.no)).toMatchObject({ cancel: { vendorCancels: { sent: 3, failed: 0 } } });
  });

  it('counts vendors that do not stop, and does not wait for ever for them', async () => {
    const vendor = new SlowVendor();
    const rig = await UnitRig.open(waitingFor(vendor, { cancel: () => new Promise(() => undefined) }));
    const job = await rig.submit(['a']);
    await rig.run(job);
    await rig.cancel(job);
    const settled = rig.activities.settle({ jobId: job.id, jobNo: job.no, generation: 1 });
    await rig.clock.advance(11_000);
    await settled;
    expect(await rig.store.jobByNo(job.no)).toMatchObject({ cancel: { vendorCancels: { sent: 1, failed: 1 } } });
  });

  it('stops a check that is under way, and takes nothing from it', async () => {
    const vendor = new SlowVendor();
    const [asked, answer] = [latch(), latch()];
    const rig = await UnitRig.open(waitingFor(vendor));
    const job = await rig.submit(['a']);
    await rig.run(job);
    vendor.states.set('r-a', { state: 'ready', answer: 'yes' });
    vendor.onCheck = () => {
      asked.open();
      return answer.promise;
    };
    await rig.clock.advance(13_000);
    const unit = rig.run(job, { lane: 'check', slots: 0 });
    await asked.promise;
    await rig.cancel(job);
    expect(await unit).toMatchObject({ handedBack: '', check: '0', ran: 0 });
    answer.open();
  });
});
