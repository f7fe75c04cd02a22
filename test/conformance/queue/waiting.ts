import type { QueueKind } from '../../../queue';
import { createRig, itemsOf, until, type Rig } from '../../support/rig';
import { slowVendor } from '../../support/slow-vendor';

/** What every queue adapter must do with items that wait for a vendor. */
export function waitingConformance(queue: QueueKind): void {
  describe('waiting', () => {
    let rig: Rig;
    afterEach(() => rig.stop());

    it('starts each item once, asks about many at a time, and goes on with every answer', async () => {
      const vendor = slowVendor();
      rig = await createRig({ queue, payloads: [vendor.payload] });
      const { id } = await rig.submit('test.wait', itemsOf(500));
      expect(await rig.ended(id)).toMatchObject({ state: 'succeeded', counts: { succeeded: 500 } });
      expect(new Set(vendor.starts).size).toBe(500);
      expect([vendor.starts.length, vendor.runs, vendor.resumes]).toEqual([500, 500, 500]);
      expect([...vendor.asked.values()].every((times) => times === 2)).toBe(true);
      expect(vendor.largestRequest).toBe(100);
      const items = await rig.items(id);
      expect(items.every((item) => item.attempts === 1)).toBe(true);
      expect(items[7]).toMatchObject({ result: { verdict: `yes remote-i7` } });
    });

    it('holds no more open than the ceiling, and gets all of them done', async () => {
      const vendor = slowVendor({ answersAfter: 1, maxOpen: 10 });
      rig = await createRig({ queue, payloads: [vendor.payload] });
      const { id } = await rig.submit('test.wait', itemsOf(40));
      expect(await rig.ended(id)).toMatchObject({ state: 'succeeded', statement: { attempts: 40 } });
      expect(vendor.mostOpen).toBe(10);
      expect(vendor.starts).toHaveLength(40);
    });

    it('is cancelled at once, the vendor is told, and is not asked any more', async () => {
      const vendor = slowVendor({ answersAfter: 1_000, every: 500 });
      rig = await createRig({ queue, payloads: [vendor.payload] });
      const { id } = await rig.submit('test.wait', itemsOf(250));
      await until(rig.store, async () => (await rig.job(id)).counts.waiting === 250, 'all wait');
      await until(rig.store, () => vendor.requests > 0, 'the vendor was asked');
      const at = Date.now();
      await rig.post(`/v1/jobs/${id}/cancel`);
      const job = await rig.ended(id);
      expect(Date.now() - at).toBeLessThan(3_000);
      expect(job).toMatchObject({
        state: 'cancelled',
        counts: { skipped: 250 },
        cancel: { skipped: 250, running: 0, vendorCancels: { sent: 250, failed: 0 } },
      });
      expect(new Set(vendor.cancelled).size).toBe(250);
      const asked = vendor.requests;
      const [first] = await rig.items(id);
      expect(first).toMatchObject({ reason: 'cancelled', remoteId: 'remote-i0' });
      expect(vendor.requests).toBe(asked);
    });

    it('asks nobody while it is paused', async () => {
      const vendor = slowVendor({ answersAfter: 2 });
      rig = await createRig({ queue, payloads: [vendor.payload] });
      const { id } = await rig.submit('test.wait', itemsOf(20));
      await until(rig.store, async () => (await rig.job(id)).counts.waiting === 20, 'all wait');
      await rig.post(`/v1/jobs/${id}/pause`);
      const paused = vendor.requests;
      // Another job's wait goes through two checks meanwhile.
      const other = await rig.submit('test.wait', [{ id: 'other', input: {} }]);
      await rig.ended(other.id);
      expect(vendor.requests - paused).toBeLessThanOrEqual(3);
      await rig.post(`/v1/jobs/${id}/resume`);
      expect(await rig.ended(id)).toMatchObject({ state: 'succeeded' });
    });
  });
}
