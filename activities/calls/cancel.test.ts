import type { CallOptions, Context } from '../../contract';
import { aborted, latch } from '../../test/support/latch';
import { payloadOf } from '../../test/support/payload-of';
import { UnitRig } from '../../test/support/unit-rig';

describe('a cancel during a paid call', () => {
  const open = async (options: CallOptions, seen: unknown[]) => {
    const [asked, answer] = [latch(), latch<string>()];
    const payload = payloadOf(async (_, ctx: Context) => {
      void aborted(ctx.signal).then(() => seen.push('told'));
      const result = await ctx.vendor('acme').call(
        'charge',
        ({ signal }) => {
          asked.open();
          return Promise.race([answer.promise, aborted(signal).then((reason) => Promise.reject(reason as Error))]);
        },
        options,
      );
      seen.push(result, ctx.cancelled());
      return result;
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await asked.promise;
    await rig.cancel(job);
    return { rig, job, unit, answer };
  };

  it('waits for the answer: what is paid for is recorded', async () => {
    const seen: unknown[] = [];
    const { rig, job, unit, answer } = await open({}, seen);
    await rig.clock.advance(5_000);
    expect(seen).toEqual([]);
    answer.open('paid');
    await unit;
    expect(seen).toEqual(expect.arrayContaining(['told', 'paid', true]));
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', body: { result: 'paid' } }]);
  });

  it('asks the vendor to stop when no answer has come within the grace, and leaves the charge to be settled', async () => {
    const seen: unknown[] = [];
    const stopped: string[] = [];
    const { rig, job, unit } = await open({ cancel: ({ key }) => void stopped.push(key) }, seen);
    await rig.clock.advance(11_000);
    expect(await unit).toMatchObject({ handedBack: '0', ran: 0 });
    expect(stopped).toHaveLength(1);
    expect(await rig.store.jobByNo(job.no)).toMatchObject({
      cancel: { stopped: 1, vendorCancels: { sent: 1, failed: 0 } },
    });
    await rig.activities.settle({ jobId: job.id, jobNo: job.no, generation: 1 });
    expect(await rig.views(job)).toMatchObject([
      { state: 'needs_review', body: { reason: 'unknown_charge', draft: { calls: [{ key: stopped[0] }] } } },
    ]);
  });
});

describe('the settle pass of a cancel', () => {
  const settle = async (found: ReturnType<NonNullable<CallOptions['reconcile']>>, more?: CallOptions) => {
    let calls = 0;
    const lost = (): never => {
      calls++;
      throw new Error('socket hang up');
    };
    const options = { reconcile: () => found, ...more };
    const rig = await UnitRig.open(payloadOf((_, ctx) => ctx.vendor('acme').call('charge', lost, options)));
    const job = await rig.submit([1]);
    await rig.run(job);
    await rig.cancel(job);
    await rig.activities.settle({ jobId: job.id, jobNo: job.no, generation: 1 });
    const [item] = await rig.views(job);
    return { item: item!, calls };
  };

  it('finds the real outcome of a parked item with an open call', async () => {
    const { item, calls } = await settle({ state: 'done', result: 'paid' });
    expect(item).toMatchObject({ state: 'succeeded', body: { result: 'paid' } });
    expect(calls).toBe(1);
  });

  it('skips the item whose call never reached the vendor, and sends nothing', async () => {
    const { item, calls } = await settle({ state: 'absent' });
    expect(item).toMatchObject({ state: 'skipped', body: { reason: 'cancelled' } });
    expect(calls).toBe(1);
  });

  it('leaves to a person what the vendor cannot tell, with the remote id', async () => {
    const { item } = await settle({ state: 'unknown', remoteId: 'ch_1' });
    expect(item).toMatchObject({ state: 'needs_review', body: { reason: 'unknown_charge', remoteId: 'ch_1' } });
  });

  it('does not send again what is idempotent', async () => {
    const { item, calls } = await settle({ state: 'absent' }, { idempotent: true });
    expect(item.state).toBe('skipped');
    expect(calls).toBe(1);
  });
});
