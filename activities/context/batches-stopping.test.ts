import { z } from '../../contract';
import { decode } from '../../model/index-set';
import { StoreUnavailable } from '../../store';
import { aborted, latch } from '../../test/support/latch';
import { batchesOf, noting, settleAll } from '../../test/support/payload-of';
import { UnitRig, code, states } from '../../test/support/unit-rig';

const zeros = (n: number): number[] => Array.from({ length: n }, () => 0);

describe('a batch that is told to stop', () => {
  it('by its time-out counts an attempt of what it did not settle; a late settle is ignored', async () => {
    const gate = latch();
    const { payload } = noting(
      2,
      async ({ items, settle }) => {
        settle(items[0]!, 'in time');
        await gate.promise;
        settle(items[1]!, 'too late');
      },
      { limits: { itemTimeout: 1_000 } },
    );
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(zeros(2));
    const unit = rig.run(job);
    await rig.clock.advance(2_200);
    await unit;
    gate.open();
    await rig.clock.rest();
    const items = await rig.views(job);
    expect(states(items)).toEqual(['succeeded', 'waiting']);
    expect(code(items[1])).toBe('item_timeout');
  });

  it('by its time-out still runs: its items are not run a second time meanwhile', async () => {
    const gate = latch();
    const { payload, batches } = noting(2, () => gate.promise, { limits: { itemTimeout: 1_000 } });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(zeros(2));
    const unit = rig.run(job);
    await rig.clock.advance(2_200);
    await unit;
    await rig.clock.advance(5_000);
    await rig.run(job);
    expect((await rig.views(job)).map(code)).toEqual(['still_running', 'still_running']);
    expect(batches).toHaveLength(1);
    gate.open();
  });

  it.each(['cancel', 'shutdown'])('by a %s hands back what it does not settle, and keeps what it does', async (why) => {
    const { payload, batches } = noting(3, async ({ items, settle }, ctx) => {
      await aborted(ctx.signal);
      settle(items[0]!, 'done all the same');
      settle(items[1]!, new Error('broken off'));
    });
    const rig = await UnitRig.open(payload, { shutdownGraceMs: 0 });
    const job = await rig.submit(zeros(5));
    const unit = rig.run(job);
    await rig.clock.rest();
    if (why === 'cancel') await rig.cancel(job);
    else rig.draining.abort();
    await rig.clock.advance(200);
    const { handedBack, ran } = await unit;
    expect([...decode(handedBack)]).toEqual([1, 5]);
    expect({ ran, batches }).toEqual({ ran: 1, batches: ['i0 i1 i2'] });
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded' }, ...zeros(4).map(() => ({ attempts: 0 }))]);
  });

  it('while it is formed is not given out, and its items are handed back', async () => {
    const gate = latch();
    const large = 'x'.repeat(2_500_000);
    const { payload, batches } = noting(10, () => gate.promise);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([0, large, large]);
    const lost = expect(rig.run(job, { seq: 1, indexes: [1] })).rejects.toThrow('another delivery has taken over');
    await rig.clock.rest();
    await rig.store.recover(job.no, 1, 1, [1, 2]);
    // i0 is at hand, i1 still runs, and i2 is on the next page.
    const read = latch();
    let reads = 0;
    rig.faults.inputs = () => (++reads === 2 ? read.promise : undefined);
    const unit = rig.run(job, { seq: 2 });
    await rig.clock.rest();
    await rig.cancel(job);
    read.open();
    expect([...decode((await unit).handedBack)]).toEqual([0, 1, 2, 3]);
    expect(batches).toEqual(['i1']);
    gate.open();
    await lost;
  });

  it('before it is formed is not formed, nor the payload called', async () => {
    const { payload, batches } = noting(10, settleAll);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(zeros(3));
    const read = latch();
    rig.faults.inputs = () => read.promise;
    const unit = rig.run(job);
    await rig.clock.rest();
    await rig.cancel(job);
    read.open();
    expect(await unit).toMatchObject({ handedBack: '0+3', ran: 0 });
    expect(batches).toEqual([]);
  });
});

describe('a store that is away', () => {
  it('when the next batch is to be formed counts against no item', async () => {
    const caught = jest.fn();
    const payload = batchesOf(async (ctx) => {
      try {
        for await (const batch of ctx.batches({ size: 1 })) {
          await rig.clock.advance(60);
          settleAll(batch);
        }
      } catch (error) {
        caught(error);
      }
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(zeros(3));
    rig.faults.settle = () => {
      throw new StoreUnavailable('away');
    };
    await expect(rig.run(job)).rejects.toThrow('away');
    expect(caught).toHaveBeenCalledWith(expect.any(StoreUnavailable));
    expect((await rig.views(job)).map((item) => item.attempts)).toEqual([0, 0, 0]);
  });

  it('before the first batch of a call counts against no item either', async () => {
    const { payload } = noting(9, settleAll, { input: z.any().refine((value) => value !== 'bad') });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(['bad', 'x'.repeat(5_000_000)]);
    let reads = 0;
    rig.faults.inputs = () => {
      if (++reads === 2) throw new StoreUnavailable('away');
    };
    await expect(rig.run(job)).rejects.toThrow('away');
    await rig.clock.advance(1_000);
    expect(await rig.views(job)).toMatchObject([{}, { state: 'pending', attempts: 0 }]);
  });
});
