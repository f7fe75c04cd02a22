import { Defer, Reject, z, type Batch } from '../../contract';
import { batchesOf, noting, settleAll } from '../../test/support/payload-of';
import { UnitRig, code, states } from '../../test/support/unit-rig';

const zeros = (n: number): number[] => Array.from({ length: n }, () => 0);

describe('the size of a batch', () => {
  it.each([
    ['what is asked for', 2, {}, 10, [2, 2, 1]],
    ['the limit of the payload', 100, { limits: { batch: 3 } }, 10, [3, 2]],
    ['the slots of the unit', 100, {}, 4, [4, 1]],
    ['one at the least', 0, {}, 10, [1, 1, 1, 1, 1]],
    ['a whole number', 2.9, {}, 10, [2, 2, 1]],
    ['one when it is no number', NaN, {}, 10, [1, 1, 1, 1, 1]],
  ])('is %s', async (_, size, more, slots, expected) => {
    const { payload, batches } = noting(size, settleAll, more);
    const rig = await UnitRig.open(payload);
    expect(new Set(states(await rig.items(zeros(5), { slots })))).toEqual(new Set(['succeeded']));
    expect(batches.map((members) => members.split(' ').length)).toEqual(expected);
  });
});

describe('settle', () => {
  it('takes a result, a review, a Reject, a Defer or an error', async () => {
    const { payload } = noting(9, ({ items, settle }, ctx) => {
      const answers = [1, ctx.review('look'), new Reject('no'), new Defer('later', { after: 1 }), new Error('again')];
      items.forEach((item, i) => settle(item, answers[i]));
    });
    const rig = await UnitRig.open(payload);
    const expected = ['succeeded', 'needs_review', 'failed', 'deferred', 'waiting'];
    expect(states(await rig.items(zeros(5)))).toEqual(expected);
  });

  it('counts the first time for an item, while its batch lasts, and for no other item', async () => {
    const earlier: Batch[] = [];
    const { payload } = noting(2, (batch) => {
      for (const { items, settle } of earlier) items.forEach((item) => settle(item, 'too late'));
      const [first] = batch.items;
      batch.settle(first!, 'first');
      batch.settle(first!, 'second');
      batch.settle({ id: 'i1', input: 0 }, 'a stranger');
      earlier.push(batch);
    });
    const rig = await UnitRig.open(payload);
    expect(await rig.items(zeros(4))).toMatchObject([
      { state: 'succeeded', body: { result: 'first' } },
      { state: 'waiting', parked: { error: { code: 'not_settled' } } },
      { state: 'succeeded' },
      { state: 'waiting' },
    ]);
  });
});

describe('the turn of the loop', () => {
  it('persists what a slow batch settled before it gives the next', async () => {
    const seen: string[][] = [];
    const { payload } = noting(1, async (batch) => {
      seen.push(states(await rig.views(job)));
      await rig.clock.advance(60);
      settleAll(batch);
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(zeros(3));
    await rig.run(job);
    const [ended, open] = ['succeeded', 'pending'];
    expect(seen).toEqual([
      [open, open, open],
      [ended, open, open],
      [ended, ended, open],
    ]);
  });

  it('leaves what quick batches settled to the next flush', async () => {
    const { payload } = noting(1, settleAll);
    const rig = await UnitRig.open(payload);
    await rig.items(zeros(100));
    expect(rig.flushes.length).toBeLessThan(5);
  });

  it('gives each batch the time of an item, anew', async () => {
    const { payload } = noting(
      1,
      async (batch) => {
        await rig.clock.advance(800);
        settleAll(batch);
      },
      { limits: { itemTimeout: 1_000 } },
    );
    const rig = await UnitRig.open(payload);
    expect(states(await rig.items(zeros(3)))).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });
});

describe('a bad item', () => {
  it('fails alone: after a throw in its batch the items come one by one', async () => {
    const { payload, batches } = noting(4, (batch) => {
      if (batch.items.some((item) => item.input === 'bad')) throw Object.assign(new Error('boom'), { code: 'boom' });
      settleAll(batch);
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([0, 0, 'bad', 0, 0]);
    await rig.run(job);
    expect(states(await rig.views(job))).toEqual(['waiting', 'waiting', 'waiting', 'waiting', 'succeeded']);
    for (let round = 0; round < 2; round++) {
      await rig.clock.advance(5_000);
      await rig.run(job);
    }
    expect(batches).toEqual(['i0 i1 i2 i3', 'i4', 'i0', 'i1', 'i2', 'i3', 'i2']);
    const items = await rig.views(job);
    expect(states(items)).toEqual(['succeeded', 'succeeded', 'failed', 'succeeded', 'succeeded']);
    expect(items.map((item) => item.attempts)).toEqual([2, 2, 3, 2, 1]);
    expect(code(items[2])).toBe('boom');
  });

  it('that failed before comes alone, before and after others', async () => {
    let failing = true;
    const { payload, batches } = noting(9, (batch) => {
      if (failing) throw new Error('boom');
      settleAll(batch);
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(zeros(5));
    await rig.run(job, { indexes: [2] });
    failing = false;
    await rig.clock.advance(5_000);
    await rig.run(job);
    expect(batches).toEqual(['i2', 'i0 i1', 'i2', 'i3 i4']);
  });

  it('that does not fit the schema is not in a batch at all', async () => {
    const { payload, batches } = noting(3, settleAll, { input: z.any().refine((value) => value !== 'bad') });
    const rig = await UnitRig.open(payload);
    const [bad, good] = ['failed', 'succeeded'];
    expect(states(await rig.items(['bad', 0, 'bad', 0, 'bad']))).toEqual([bad, good, bad, good, bad]);
    expect(batches).toEqual(['i1 i3']);
  });

  it('keeps what was settled before the throw', async () => {
    const { payload } = noting(3, ({ items, settle }) => {
      settle(items[0]!, 'done');
      throw new Error('boom');
    });
    const rig = await UnitRig.open(payload);
    expect(states(await rig.items(zeros(3)))).toEqual(['succeeded', 'waiting', 'waiting']);
  });
});

describe('a payload that leaves the loop', () => {
  it('early is called again for the rest, and what it left unsettled is retried', async () => {
    let calls = 0;
    const payload = batchesOf(async (ctx) => {
      calls++;
      for await (const batch of ctx.batches({ size: 2 })) {
        batch.settle(batch.items[0]!, 'done');
        break;
      }
    });
    const rig = await UnitRig.open(payload);
    const items = await rig.items(zeros(4));
    expect(states(items)).toEqual(['succeeded', 'waiting', 'succeeded', 'waiting']);
    expect([code(items[1]), calls]).toEqual(['not_settled', 2]);
  });

  it('without having taken anything has the items fail with not_taken', async () => {
    const rig = await UnitRig.open(batchesOf(() => Promise.resolve()));
    const items = await rig.items(zeros(3));
    expect(states(items)).toEqual(['failed', 'failed', 'failed']);
    expect(code(items[0])).toBe('not_taken');
  });

  it('by an error before it took anything has one item bear each call', async () => {
    const payload = batchesOf(() => Promise.reject(Object.assign(new Error('no vendor'), { code: 'no_vendor' })));
    const rig = await UnitRig.open(payload);
    const items = await rig.items(zeros(3));
    expect(states(items)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(items.map(code)).toEqual(['no_vendor', 'no_vendor', 'no_vendor']);
  });

  it('never, before its first batch, runs out of time', async () => {
    const rig = await UnitRig.open(batchesOf(() => new Promise(() => undefined), { limits: { itemTimeout: 1_000 } }));
    const job = await rig.submit(zeros(2));
    const unit = rig.run(job);
    await rig.clock.advance(5_000);
    expect(await unit).toMatchObject({ ran: 2, handedBack: '' });
    expect((await rig.views(job)).map(code)).toEqual(['item_timeout', 'item_timeout']);
  });
});
