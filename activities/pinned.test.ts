import { range } from '../model/index-set';
import { latch } from '../test/support/latch';
import { noting, settleAll } from '../test/support/payload-of';
import { UnitRig, states } from '../test/support/unit-rig';

/** Batches of three with one paid call each, and what the vendor saw of them. */
function paying(each: (call: number) => void = () => undefined) {
  const keys: string[] = [];
  let call = 0;
  const { payload, batches } = noting(
    3,
    async (batch, ctx) => {
      await ctx.vendor('acme').call('score', ({ key }) => {
        keys.push(key);
        return batch.items.length;
      });
      each(++call);
      settleAll(batch);
    },
    { limits: { batch: 3, backoff: { initial: '1ms' } } },
  );
  return { payload, batches, keys };
}

describe('a batch with a paid call', () => {
  it('is formed again of the same items when it failed, and its call is not made again', async () => {
    const { payload, batches, keys } = paying((call) => {
      if (call === 1) throw new Error('later');
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1, 2, 3, 4, 5, 6]);
    await rig.run(job);
    await rig.clock.advance(2_000);
    // The first batch again, although its items failed before, and although only one of them was sent.
    await rig.run(job, { indexes: [1] });
    expect(batches).toEqual(['i0 i1 i2', 'i3 i4 i5', 'i0 i1 i2']);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
    expect(states(await rig.views(job))).toEqual(Array(6).fill('succeeded'));
  });

  it('is formed again of the same items by the next delivery, whatever its size and slots', async () => {
    const { payload, batches, keys } = paying();
    const rig = await UnitRig.open(payload);
    // What came of the batches is never written; their calls are.
    rig.faults.settle = () => {
      throw new Error('the process died');
    };
    const job = await rig.submit([1, 2, 3, 4]);
    await rig.run(job, { seq: 1, slots: 3 }).catch(() => undefined);
    await rig.store.recover(job.no, 1, 1, range(0, 4));
    rig.faults.settle = () => undefined;
    expect(batches).toEqual(['i0 i1 i2', 'i3']);
    await rig.run(job, { seq: 2, slots: 2, indexes: [2] });
    await rig.run(job, { seq: 3, slots: 1, indexes: [0, 1, 3] });
    expect(batches.slice(2)).toEqual(['i0 i1 i2', 'i3']);
    expect(keys).toHaveLength(2);
    expect(states(await rig.views(job))).toEqual(Array(4).fill('succeeded'));
  });

  it('is left to the unit that has it in hand', async () => {
    const [calling, answer] = [latch(), latch()];
    const { payload, batches } = noting(2, async (batch, ctx) => {
      await ctx.vendor('acme').call('score', async () => {
        calling.open();
        await answer.promise;
        return 1;
      });
      settleAll(batch);
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1, 2]);
    const first = rig.run(job);
    await calling.promise;
    const other = await rig.run(job, { indexes: [1] });
    expect(other).toMatchObject({ ran: 0 });
    expect(other.holdMs).toBeGreaterThan(0);
    answer.open();
    await first;
    expect(batches).toEqual(['i0 i1']);
    expect(states(await rig.views(job))).toEqual(['succeeded', 'succeeded']);
  });

  it('has items of its own to settle only while they have no outcome', async () => {
    let failing = true;
    const { payload, batches } = noting(3, async (batch, ctx) => {
      await ctx.vendor('acme').call('score', () => 1);
      batch.settle(batch.items[0]!, 'kept');
      if (failing) throw new Error('later');
      for (const item of batch.items) batch.settle(item, 'second');
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1, 2, 3]);
    await rig.run(job);
    failing = false;
    await rig.clock.advance(2_000);
    await rig.run(job);
    expect(batches).toEqual(['i0 i1 i2', 'i0 i1 i2']);
    expect((await rig.views(job)).map((item) => item.body?.result)).toEqual(['kept', 'second', 'second']);
  });

  it('without one is not kept: what failed comes one by one', async () => {
    let failing = true;
    const { payload, batches } = noting(2, (batch) => {
      if (failing) throw new Error('later');
      settleAll(batch);
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1, 2]);
    await rig.run(job);
    failing = false;
    await rig.clock.advance(2_000);
    await rig.run(job);
    expect(batches).toEqual(['i0 i1', 'i0', 'i1']);
  });
});

it('a call outside of a batch belongs to nothing, and is an error', async () => {
  const { payload } = noting(2, settleAll);
  const outside = {
    ...payload,
    batches: (ctx: { once: (name: string, effect: () => number) => Promise<number> }) => ctx.once('x', () => 1),
  };
  const rig = await UnitRig.open(outside as unknown as typeof payload);
  expect(await rig.items([1])).toMatchObject([
    { parked: { error: { message: expect.stringContaining('a batch') as string } } },
  ]);
});
