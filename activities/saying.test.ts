import { pino } from 'pino';
import { Defer } from '../contract';
import { latch } from '../test/support/latch';
import { batchesOf, payloadOf } from '../test/support/payload-of';
import { UnitRig, states } from '../test/support/unit-rig';

describe('ctx.meter', () => {
  async function usageOf(rig: UnitRig, inputs: unknown[]) {
    const job = await rig.submit(inputs, { maxAttempts: 1 });
    await rig.run(job);
    await rig.store.endCancelled(job.no);
    await rig.store.finalize(job.no, 0);
    return (await rig.store.jobByNo(job.no))?.statement?.usage;
  }

  it.each(['succeeded', 'failed', 'deferred'])('is written of an attempt that %s', async (end) => {
    const payload = payloadOf((_, ctx) => {
      ctx.meter('tokens', 2.5, { key: 'call' });
      ctx.meter('tokens', 2.5, { key: 'call' });
      if (end === 'failed') throw new Error('no');
      if (end === 'deferred') throw new Defer('no', { after: 1_000 });
      return 1;
    });
    expect(await usageOf(await UnitRig.open(payload), [1, 2])).toEqual({ tokens: 5 });
  });

  const misuses: [string, unknown[]][] = [
    ['NaN', ['tokens', NaN, { key: 'a' }]],
    ['infinity', ['tokens', Infinity, { key: 'a' }]],
    ['a BigInt', ['tokens', 1n, { key: 'a' }]],
    ['an object with nothing to it', ['tokens', Object.create(null), { key: 'a' }]],
    ['a text', ['tokens', '5', { key: 'a' }]],
    ['no key', ['tokens', 1, {}]],
    ['no options', ['tokens', 1]],
    ['null options', ['tokens', 1, null]],
    ['no name', [undefined, 1, { key: 'a' }]],
    ['nothing at all', []],
  ];
  it.each(misuses)('does not throw when it is given %s: it logs, and records nothing', async (_, args) => {
    const payload = payloadOf((_, ctx) => (ctx.meter as (...all: unknown[]) => void)(...args));
    const rig = await UnitRig.open(payload);
    expect(await usageOf(rig, [1])).toEqual({});
    expect(rig.lines).toMatchObject([{ level: 'error', fields: { item: 'i0' } }]);
    expect(() => pino({ enabled: false }).error(rig.lines[0]!.fields, 'x')).not.toThrow();
    expect((await rig.store.jobByNo(1))?.outcomes.succeeded).toBe(1);
  });

  it.each([{ key: 'a' }, { key: 'a', item: {} }, { key: 'a', item: null }, undefined])(
    'does not throw in a batch without an item (%j)',
    async (options) => {
      const payload = batchesOf(async (ctx) => {
        for await (const batch of ctx.batches({ size: 5 })) {
          (ctx.meter as (...all: unknown[]) => void)('tokens', 1, options);
          for (const item of batch.items) {
            ctx.meter('tokens', 10, { key: 'a', item });
            batch.settle(item, 1);
          }
        }
      });
      const rig = await UnitRig.open(payload);
      expect(await usageOf(rig, [1, 2])).toEqual({ tokens: 20 });
      expect(rig.lines).toHaveLength(1);
    },
  );
});

describe('ctx.log', () => {
  it("reaches the job's log and the worker's, with the item", async () => {
    const payload = payloadOf((_, ctx) => {
      ctx.log.info('one', { n: 1 });
      ctx.log.warn('two');
      ctx.log.error('x'.repeat(5_000_000));
      throw new Error('no');
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    await rig.run(job);
    expect(await rig.jobLog(job)).toMatchObject([
      { level: 'info', source: 'payload', message: 'one', itemId: 'i0' },
      { level: 'warn', message: 'two' },
      { level: 'error', message: 'x'.repeat(4_000) },
    ]);
    expect(rig.lines[0]).toEqual({
      level: 'info',
      message: 'one',
      fields: { job: job.id, unit: `${job.id}/g1/u1`, n: 1, item: 'i0' },
    });
    expect(rig.lines[2]!.message).toHaveLength(4_000);
  });

  it('names the item of a batch when it has one in hand, and none when there are several', async () => {
    const payload = batchesOf(async (ctx) => {
      for await (const batch of ctx.batches({ size: 2 })) {
        for (const item of batch.items) {
          ctx.log.info('before');
          batch.settle(item, 1);
        }
        ctx.log.info('after');
      }
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1, 2]);
    await rig.run(job);
    expect((await rig.jobLog(job)).map((line) => line.itemId)).toEqual([null, 'i1', null]);
  });
});

describe('ctx.progress', () => {
  it('is seen while the item runs, and no longer', async () => {
    const gate = latch();
    const payload = payloadOf(async (_, ctx) => {
      ctx.progress(3, 10, 'a third');
      await gate.promise;
      ctx.progress(9);
      throw new Error('no');
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(600);
    const running = { state: 'running', progress: { done: 3, total: 10, note: 'a third' } };
    expect(await rig.views(job)).toMatchObject([running]);
    gate.open();
    await unit;
    expect(await rig.views(job)).toMatchObject([{ state: 'waiting', progress: null }]);
  });

  it('takes what a payload in JavaScript may give it, within bounds', async () => {
    const [first, second] = [latch(), latch()];
    const payload = payloadOf(async (_, ctx) => {
      const progress = ctx.progress as (...all: unknown[]) => void;
      progress(1n);
      progress('5');
      progress(1, 2n, Object.create(null));
      progress(NaN, 2);
      await first.promise;
      progress(2, Infinity, 'n'.repeat(5_000_000));
      await second.promise;
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(600);
    expect((await rig.views(job))[0]!.progress).toEqual({ done: 1 });
    first.open();
    await rig.clock.advance(600);
    expect((await rig.views(job))[0]!.progress).toEqual({ done: 2, note: 'n'.repeat(200) });
    second.open();
    await unit;
    expect(states(await rig.views(job))).toEqual(['succeeded']);
  });

  it('is of all items of the batch in hand', async () => {
    const gate = latch();
    const payload = batchesOf(async (ctx) => {
      for await (const batch of ctx.batches({ size: 3 })) {
        batch.settle(batch.items[0]!, 1);
        ctx.progress(1);
        await gate.promise;
      }
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1, 2, 3]);
    const unit = rig.run(job);
    await rig.clock.advance(600);
    expect(states(await rig.views(job))).toEqual(['succeeded', 'running', 'running']);
    gate.open();
    await unit;
  });
});
