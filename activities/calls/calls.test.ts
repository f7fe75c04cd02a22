import { Declined, Defer, Reject, type CallInfo, type CallOptions } from '../../contract';
import { StoreUnavailable } from '../../store';
import { latch } from '../../test/support/latch';
import { payloadOf } from '../../test/support/payload-of';
import { UnitRig, code, states } from '../../test/support/unit-rig';

/** The vendor: every call that reached it, by key, and what it does with each, in order; the last is repeated. */
class Vendor {
  readonly calls: string[] = [];
  constructor(private readonly acts: (() => unknown)[] = [() => ({ id: 'r1' })]) {}

  readonly send = async ({ key }: CallInfo): Promise<unknown> => {
    this.calls.push(key);
    await Promise.resolve();
    return (this.acts.length > 1 ? this.acts.shift()! : this.acts[0]!)();
  };
}
const lost = (): never => {
  throw new Error('socket hang up');
};

/** A payload that makes one call and returns its result. */
const calling = (vendor: Vendor, options: CallOptions<unknown> = {}, more: object = {}) =>
  payloadOf((_, ctx) => ctx.vendor('acme').call('charge', vendor.send, options), more);

/** Runs the item until it is not parked for another attempt any more. */
async function toTheEnd(rig: UnitRig, job: Awaited<ReturnType<UnitRig['submit']>>) {
  for (let i = 0; i < 5; i++) {
    await rig.run(job);
    const [item] = await rig.views(job);
    if (!item?.parked) return item!;
    await rig.clock.advance(Math.max(0, item.parked.due - rig.clock.now()));
  }
  throw new Error('the item did not end');
}

describe('a paid call', () => {
  it('has its intent stored before, its result after, and gets a key of its own', async () => {
    const vendor = new Vendor();
    const rig = await UnitRig.open(calling(vendor));
    const before: string[] = [];
    rig.faults.journal = (writes) => void before.push(`${writes[0]!.type} after ${vendor.calls.length} calls`);
    const items = await rig.items([1, 2]);
    expect(states(items)).toEqual(['succeeded', 'succeeded']);
    expect(items[0]!.body).toEqual({ result: { id: 'r1' } });
    expect(before[0]).toBe('intent after 0 calls');
    expect(rig.journaled.map((write) => write.type).sort()).toEqual(['intent', 'intent', 'result', 'result']);
    expect(new Set(vendor.calls).size).toBe(2);
    expect(vendor.calls[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is one commit for many that start together', async () => {
    const rig = await UnitRig.open(calling(new Vendor()));
    let commits = 0;
    rig.faults.journal = () => void commits++;
    await rig.items(
      Array.from({ length: 40 }, () => 1),
      { slots: 40 },
    );
    expect(rig.journaled).toHaveLength(80);
    expect(commits).toBeLessThanOrEqual(6);
  });

  it('is not made again when the attempt fails after it: the next one gets the result, as JSON', async () => {
    const vendor = new Vendor([() => ({ at: new Date(0), nothing: undefined })]);
    const seen: unknown[] = [];
    const payload = payloadOf(async (_, ctx) => {
      seen.push(await ctx.vendor('acme').call('charge', vendor.send));
      if (seen.length < 3) throw new Error('later');
      return 'done';
    });
    const rig = await UnitRig.open(payload);
    expect(await toTheEnd(rig, await rig.submit([1]))).toMatchObject({ state: 'succeeded', attempts: 3 });
    expect(vendor.calls).toHaveLength(1);
    expect(seen).toEqual(Array(3).fill({ at: '1970-01-01T00:00:00.000Z' }));
  });

  it('whose answer was lost is unknown, whatever the payload makes of it', async () => {
    const vendor = new Vendor([lost]);
    const payload = payloadOf((_, ctx) => ctx.vendor('acme').call('charge', vendor.send));
    const rig = await UnitRig.open(payload);
    const item = await toTheEnd(rig, await rig.submit([1]));
    expect(item).toMatchObject({ state: 'needs_review', attempts: 2, body: { reason: 'unknown_charge' } });
    expect(item.body?.draft).toEqual({ calls: [{ call: 'acme/charge', vendor: 'acme', key: vendor.calls[0] }] });
    expect(vendor.calls).toHaveLength(1);

    const catching = payloadOf(async (_, ctx) => {
      if (ctx.item.input === 'first') lost();
      return ctx
        .vendor('acme')
        .call('charge', lost)
        .catch(() => 'a default');
    });
    const other = await UnitRig.open(catching);
    // The payload caught the vendor's own error: its affair. The journal's error it cannot catch away.
    expect((await other.items([1]))[0]).toMatchObject({ state: 'succeeded' });
  });

  it.each([
    ['done: gets its result', { state: 'done', result: { id: 'found' } }, 1, { result: { id: 'found' } }],
    ['absent: is sent again', { state: 'absent' }, 2, { result: { id: 'r1' } }],
    [
      'unknown: goes to a person',
      { state: 'unknown', remoteId: 'ch_7' },
      1,
      { remoteId: 'ch_7', reason: 'unknown_charge' },
    ],
  ] as const)('that is reconciled as %s', async (_, found, calls, body) => {
    const vendor = new Vendor([lost, () => ({ id: 'r1' })]);
    const asked: string[] = [];
    const reconcile = ({ key }: CallInfo) => {
      asked.push(key);
      return found;
    };
    const rig = await UnitRig.open(calling(vendor, { reconcile }));
    const item = await toTheEnd(rig, await rig.submit([1]));
    expect(item.body).toMatchObject(body);
    expect(vendor.calls).toHaveLength(calls);
    expect(new Set([...asked, ...vendor.calls]).size).toBe(1);
  });

  it('is sent again under its key where that is idempotent', async () => {
    const vendor = new Vendor([lost, () => 'ok']);
    const rig = await UnitRig.open(calling(vendor, { idempotent: true }));
    expect(await toTheEnd(rig, await rig.submit([1]))).toMatchObject({ state: 'succeeded', attempts: 2 });
    expect(vendor.calls).toHaveLength(2);
    expect(new Set(vendor.calls).size).toBe(1);
  });

  it.each([
    ['Declined', () => new Declined('busy'), 'succeeded', 2, 2],
    ['Defer', () => new Defer('busy', { after: 1_000 }), 'succeeded', 2, 1],
    ['Reject', () => new Reject('no'), 'failed', 1, 1],
  ])('that the vendor refused (%s) was none', async (_, error, state, calls, attempts) => {
    const refused = (): never => {
      throw error();
    };
    const vendor = new Vendor([refused, () => 'ok']);
    const rig = await UnitRig.open(calling(vendor));
    expect(await toTheEnd(rig, await rig.submit([1]))).toMatchObject({ state, attempts });
    expect(vendor.calls).toHaveLength(calls);
  });

  it('ends as unknown when the budget ends with its answer lost', async () => {
    const rig = await UnitRig.open(calling(new Vendor([lost])));
    const job = await rig.submit([1], { maxAttempts: 1 });
    expect(await toTheEnd(rig, job)).toMatchObject({ state: 'needs_review', body: { reason: 'unknown_charge' } });
  });

  it('is a failure like others when the vendor cannot be asked what became of it', async () => {
    const vendor = new Vendor([lost, () => 'ok']);
    let away = true;
    const reconcile = () => {
      if (!away) return { state: 'done', result: 'found' } as const;
      away = false;
      throw new Error('the vendor is away');
    };
    const rig = await UnitRig.open(calling(vendor, { reconcile }));
    expect(await toTheEnd(rig, await rig.submit([1]))).toMatchObject({ body: { result: 'found' }, attempts: 3 });
    expect(vendor.calls).toHaveLength(1);
  });

  it.each([
    ['not JSON', () => 1n],
    ['over a megabyte', () => 'x'.repeat(1_000_001)],
  ])('with a result that is %s fails, and is not made again', async (_, result) => {
    const vendor = new Vendor([result]);
    const rig = await UnitRig.open(calling(vendor));
    const item = await toTheEnd(rig, await rig.submit([1]));
    expect([item.state, code(item)]).toEqual(['failed', 'call_misused']);
    expect(vendor.calls).toHaveLength(1);
  });
});

describe('the name of a call', () => {
  const twice = (first: CallOptions, second: CallOptions) =>
    payloadOf(async (_, ctx) => [
      await ctx.vendor('acme').call('charge', () => 1, first),
      await ctx.vendor('acme').call('charge', () => 2, second),
    ]);

  it.each([
    ['without arguments', {}, {}],
    ['for others', { args: { a: 1 } }, { args: { a: 2 } }],
    ['for some and none', { args: { a: 1 } }, {}],
  ])('used twice %s is an error at once', async (_, first, second) => {
    const rig = await UnitRig.open(twice(first, second));
    const [item] = await rig.items([1]);
    expect([item!.state, code(item), item!.attempts]).toEqual(['failed', 'call_misused', 1]);
  });

  it('used twice for the same is one call, also at the same time', async () => {
    const vendor = new Vendor();
    const payload = payloadOf((_, ctx) => {
      const call = (args: object) => ctx.vendor('acme').call('charge', vendor.send, { args });
      return Promise.all([call({ a: 1, b: { c: 2, d: 3 } }), call({ b: { d: 3, c: 2 }, a: 1 })]);
    });
    const rig = await UnitRig.open(payload);
    expect((await rig.items([1]))[0]!.body).toEqual({ result: [{ id: 'r1' }, { id: 'r1' }] });
    expect(vendor.calls).toHaveLength(1);
  });

  it('is another one for each vendor and for effects', async () => {
    const payload = payloadOf(async (_, ctx) => [
      await ctx.vendor('a').call('x', () => 'a'),
      await ctx.vendor('b').call('x', () => 'b'),
      await ctx.once('x', () => 'once'),
    ]);
    const rig = await UnitRig.open(payload);
    expect((await rig.items([1]))[0]!.body).toEqual({ result: ['a', 'b', 'once'] });
  });

  it('with other arguments in a later attempt is an error', async () => {
    let attempt = 0;
    const payload = payloadOf(async (_, ctx) => {
      await ctx.vendor('acme').call('charge', () => 1, { args: { attempt: ++attempt } });
      throw new Error('later');
    });
    const rig = await UnitRig.open(payload);
    const item = await toTheEnd(rig, await rig.submit([1]));
    expect([item.state, code(item)]).toEqual(['failed', 'call_misused']);
  });

  it.each([undefined, '', 7, 'x'.repeat(201)])('is not %p', async (name) => {
    const payload = payloadOf((_, ctx) => ctx.vendor('acme').call(name as string, () => 1));
    const rig = await UnitRig.open(payload);
    expect(states(await rig.items([1]))).toEqual(['waiting']);
    expect(rig.journaled).toEqual([]);
  });
});

describe('ctx.once', () => {
  it('runs an effect once, and again under its key where its result was lost', async () => {
    const keys: string[] = [];
    const payload = payloadOf(async (item, ctx) => {
      const result = await ctx.once('random', (key) => {
        keys.push(key);
        if (keys.length === 1) lost();
        return keys.length;
      });
      if (keys.length === 2 && item.input === 1) throw Object.assign(new Error('later'), { result });
      return result;
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    await rig.run(job);
    await rig.clock.advance(2_000);
    await rig.run(job);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    expect(rig.journaled.filter((write) => write.type === 'result')).toMatchObject([{ result: 2 }]);
  });
});

describe('a store that is away', () => {
  const away = (): never => {
    throw new StoreUnavailable('away');
  };

  it('before the call: it is not made, and the attempt counts for nothing, whatever the payload returns', async () => {
    const vendor = new Vendor();
    const payload = payloadOf((_, ctx) =>
      ctx
        .vendor('acme')
        .call('charge', vendor.send)
        .catch(() => 'a default'),
    );
    const rig = await UnitRig.open(payload);
    rig.faults.journal = away;
    const job = await rig.submit([1]);
    expect(await rig.run(job)).toMatchObject({ handedBack: '0', ran: 0 });
    expect(vendor.calls).toEqual([]);
    expect(await rig.views(job)).toMatchObject([{ state: 'pending', attempts: 0 }]);
  });

  it('after the call: its result is kept and written later, and the call is not made again', async () => {
    const vendor = new Vendor();
    const rig = await UnitRig.open(calling(vendor));
    rig.faults.journal = (writes) => writes[0]!.type === 'result' && away();
    const job = await rig.submit([1]);
    await rig.run(job);
    expect(await rig.views(job)).toMatchObject([{ state: 'pending', attempts: 0 }]);
    rig.faults.journal = () => undefined;
    await rig.clock.advance(1_100);
    await rig.run(job);
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', attempts: 1 }]);
    expect(vendor.calls).toHaveLength(1);
    expect(rig.clock.ticking).toBe(0);
  });
});

describe('a zombie', () => {
  it('has its new intents refused, and the result of a call that it had made taken', async () => {
    const [asked, answer, second] = [latch(), latch<string>(), new Vendor()];
    const payload = payloadOf(async (_, ctx) => {
      const first = await ctx.vendor('acme').call('first', () => {
        asked.open();
        return answer.promise;
      });
      return [first, await ctx.vendor('acme').call('second', second.send)];
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = expect(rig.run(job, { seq: 1 })).rejects.toThrow('another delivery has taken over');
    await asked.promise;
    await rig.store.recover(job.no, 1, 1, [0, 1]);
    answer.open('paid');
    await unit;
    expect(second.calls).toEqual([]);
    await rig.run(job, { seq: 2 });
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', body: { result: ['paid', { id: 'r1' }] } }]);
    expect(second.calls).toHaveLength(1);
  });
});
