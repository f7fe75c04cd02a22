import { Defer, Reject, type Context } from '../contract';
import { latch } from '../test/support/latch';
import { batchesOf, payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';

const boom = (): never => {
  throw new Error('a hook that fails');
};

describe('cleanup hooks run, newest first, when an attempt ends', () => {
  const endings: Record<string, (ctx: Context) => unknown> = {
    'with a result': () => 1,
    'with a promise': () => Promise.resolve(1),
    'with a review': (ctx) => ctx.review('look'),
    'with an error': boom,
    'with a rejection': () => Promise.reject(new Error('no')),
    'with a Reject': () => Promise.reject(new Reject('no')),
    'with a Defer': () => Promise.reject(new Defer('no', { after: 1 })),
  };

  it.each(Object.keys(endings))('%s', async (ending) => {
    const order: string[] = [];
    const payload = payloadOf((_, ctx) => {
      ctx.cleanup(() => void order.push('first set'));
      ctx.cleanup(async () => {
        await Promise.resolve();
        order.push('second set');
        ctx.cleanup(() => void order.push('set by a hook'));
      });
      return endings[ending]!(ctx);
    });
    const rig = await UnitRig.open(payload);
    await rig.items([1]);
    expect(order).toEqual(['second set', 'set by a hook', 'first set']);
  });

  it('by being abandoned, and those it sets after that when it really ends', async () => {
    const order: string[] = [];
    const gate = latch();
    const payload = payloadOf(
      async (_, ctx) => {
        ctx.cleanup(() => void order.push('set in time'));
        await gate.promise;
        ctx.cleanup(() => void order.push('set late'));
        order.push('ends');
      },
      { limits: { itemTimeout: 1_000 } },
    );
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(2_200);
    await unit;
    expect(order).toEqual(['set in time']);
    gate.open();
    await rig.clock.rest();
    expect(order).toEqual(['set in time', 'ends', 'set late']);
  });

  it('of a call of batches, once', async () => {
    const hook = jest.fn();
    const payload = batchesOf(async (ctx) => {
      ctx.cleanup(hook);
      for await (const batch of ctx.batches({ size: 1 })) for (const item of batch.items) batch.settle(item, 1);
    });
    const rig = await UnitRig.open(payload);
    expect(states(await rig.items([1, 2, 3]))).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(hook).toHaveBeenCalledTimes(1);
  });
});

describe('a cleanup hook', () => {
  it('that fails is logged, and changes neither the outcome nor the other hooks', async () => {
    const hook = jest.fn();
    const payload = payloadOf((_, ctx) => {
      ctx.cleanup(hook);
      ctx.cleanup(boom);
      ctx.cleanup(() => Promise.reject(new Error('a hook that rejects')));
      return 'done';
    });
    const rig = await UnitRig.open(payload);
    expect(await rig.items([1])).toMatchObject([{ state: 'succeeded', body: { result: 'done' } }]);
    expect(hook).toHaveBeenCalledTimes(1);
    expect(rig.lines.map((line) => line.message)).toEqual([
      'a hook of the payload failed',
      'a hook of the payload failed',
    ]);
  });

  it('that hangs holds neither the item nor the slot', async () => {
    const payload = payloadOf((_, ctx) => {
      ctx.cleanup(() => new Promise(() => undefined));
      throw Object.assign(new Error('real'), { code: 'real' });
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1, 2]);
    const unit = rig.run(job, { slots: 1 });
    await rig.clock.advance(12_000);
    expect(await unit).toMatchObject({ ran: 2 });
    expect((await rig.views(job)).map(code)).toEqual(['real', 'real']);
    expect(rig.lines[0]).toMatchObject({ level: 'warn', message: expect.stringContaining('not waited for') });
  });
});
