import { StoreUnavailable } from '../store';
import { aborted, latch } from '../test/support/latch';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, states } from '../test/support/unit-rig';

const away = (): never => {
  throw new StoreUnavailable('away');
};

describe('a store that is away', () => {
  it('for a while is waited for: what was buffered is written once, and nothing is run again', async () => {
    const runs: string[] = [];
    const gate = latch();
    const payload = payloadOf<string>(async (item) => {
      runs.push(item.id);
      if (item.input === 'slow') await gate.promise;
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(['quick', 'slow']);
    rig.faults.settle = away;
    const unit = rig.run(job);
    await rig.clock.advance(2_000);
    expect(rig.lines.length).toBeGreaterThan(1);
    delete rig.faults.settle;
    await rig.clock.advance(1_000);
    expect(states(await rig.views(job))).toEqual(['succeeded', 'pending']);
    gate.open();
    expect(await unit).toMatchObject({ ran: 2 });
    expect(rig.flushes.flatMap(({ flush }) => flush.settled).map((item) => item.index)).toEqual([0, 1]);
    expect(runs).toEqual(['i0', 'i1']);
  });

  it('when a unit ends fails the unit, and counts against no item', async () => {
    const rig = await UnitRig.open(payloadOf(() => Promise.reject(new Error('no'))));
    const job = await rig.submit([1]);
    rig.faults.settle = away;
    await expect(rig.run(job)).rejects.toThrow(StoreUnavailable);
    expect(await rig.views(job)).toMatchObject([{ state: 'pending', attempts: 0 }]);
    expect(rig.clock.ticking).toBe(0);
  });

  it('when inputs are read fails the unit, and starts nothing more of it', async () => {
    const started: string[] = [];
    const reasons: unknown[] = [];
    const payload = payloadOf(async (item, ctx) => {
      started.push(item.id);
      reasons.push(((await aborted(ctx.signal)) as { why: string }).why);
    });
    const rig = await UnitRig.open(payload);
    // Two pages of inputs, by their bytes.
    const job = await rig.submit(['x'.repeat(2_500_000), 'x'.repeat(2_500_000), 'x']);
    let reads = 0;
    rig.faults.inputs = () => {
      if (++reads > 1) away();
    };
    const unit = rig.run(job, { slots: 3 });
    await expect(unit).rejects.toThrow('away');
    expect(started).toEqual(['i0']);
    expect(reasons).toEqual(['store']);
    expect(rig.clock.ticking).toBe(0);
  });

  it('is no reason to wait longer than a second for an item that does not react', async () => {
    const payload = payloadOf(() => new Promise(() => undefined));
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(['x'.repeat(2_500_000), 'x'.repeat(2_500_000)]);
    let reads = 0;
    rig.faults.inputs = () => {
      if (++reads > 1) away();
    };
    const unit = rig.run(job, { slots: 2 });
    const failed = expect(unit).rejects.toThrow('away');
    await rig.clock.advance(1_200);
    await failed;
  });
});

describe('what cannot be stored', () => {
  it('fails its unit, whose items are told; what they then come to is kept, and other units go on', async () => {
    const reasons: unknown[] = [];
    const payload = payloadOf<string>(async (item, ctx) => {
      if (item.input === 'waits') reasons.push(((await aborted(ctx.signal)) as { why: string }).why);
      return item.input;
    });
    const rig = await UnitRig.open(payload);
    const [job, other] = [await rig.submit(['odd', 'waits']), await rig.submit(['fine'])];
    rig.faults.settle = (flushes) => {
      const odd = flushes.some((flush) => flush.settled.some((item) => item.body.result === 'odd'));
      if (odd) throw new TypeError('no such text');
    };
    const unit = expect(rig.run(job)).rejects.toThrow('no such text');
    const otherUnit = rig.run(other);
    await rig.clock.advance(700);
    await unit;
    expect(await otherUnit).toMatchObject({ ran: 1 });
    expect(reasons).toEqual(['store']);
    expect(states(await rig.views(other))).toEqual(['succeeded']);
    expect(await rig.views(job)).toMatchObject([{ state: 'pending', attempts: 0 }, { state: 'succeeded' }]);
  });
});
