import { Defer, Reject, type Context } from '../contract';
import { decode } from '../model/index-set';
import { aborted, latch } from '../test/support/latch';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';

/** Ends as its input says once it is told to stop. */
const endings: Record<string, (ctx: Context) => unknown> = {
  result: () => 'done all the same',
  review: (ctx) => ctx.review('half done', { n: 1 }),
  error: () => {
    throw new Error('broken off');
  },
  errorValue: () => new Error('broken off'),
  reason: (ctx) => ctx.signal.throwIfAborted(),
  defer: () => {
    throw new Defer('another day', { after: 1_000 });
  },
  unreadable: () => {
    throw Object.defineProperty(new Error('broken off'), 'cause', {
      get: () => {
        throw new Error('no');
      },
    });
  },
  reject: () => {
    throw new Reject('hopeless', { code: 'hopeless' });
  },
};
const untilTold = (started: (id: string) => void = () => undefined) =>
  payloadOf<string>(async (item, ctx) => {
    started(item.id);
    await aborted(ctx.signal);
    return endings[item.input]!(ctx);
  });

describe('a cancel', () => {
  it('keeps what running items come to, and leaves open what broke off, with no attempt counted', async () => {
    const rig = await UnitRig.open(untilTold());
    const job = await rig.submit(Object.keys(endings));
    const unit = rig.run(job);
    await rig.clock.rest();
    await rig.cancel(job);
    const { handedBack, ran, nextDue } = await unit;
    const items = await rig.views(job);
    const open = ['pending', 'pending', 'pending', 'pending', 'pending'];
    expect(states(items)).toEqual(['succeeded', 'needs_review', ...open, 'failed']);
    expect(code(items[7])).toBe('hopeless');
    expect([...decode(handedBack)]).toEqual([2, 7]);
    expect({ ran, nextDue }).toEqual({ ran: 3, nextDue: null });
    expect(items.map((item) => item.attempts)).toEqual([1, 1, 0, 0, 0, 0, 0, 1]);
  });

  it('starts nothing new', async () => {
    const started: string[] = [];
    const rig = await UnitRig.open(untilTold((id) => started.push(id)));
    const job = await rig.submit(Array.from({ length: 20 }, () => 'result'));
    const unit = rig.run(job, { slots: 3 });
    await rig.clock.rest();
    await rig.cancel(job);
    expect(decode((await unit).handedBack)).toEqual([3, 20]);
    expect(started).toEqual(['i0', 'i1', 'i2']);
  });

  it('starts nothing of what is just being read', async () => {
    const started: string[] = [];
    const rig = await UnitRig.open(untilTold((id) => started.push(id)));
    const job = await rig.submit(['result', 'result']);
    const read = latch();
    rig.faults.inputs = () => read.promise;
    const unit = rig.run(job);
    await rig.clock.rest();
    await rig.cancel(job);
    read.open();
    expect(decode((await unit).handedBack)).toEqual([0, 2]);
    expect(started).toEqual([]);
  });

  it('starts nothing of a unit that comes later', async () => {
    const started: string[] = [];
    const rig = await UnitRig.open(untilTold((id) => started.push(id)));
    const job = await rig.submit(['result']);
    await rig.store.requestCancel(job.no, 'a person');
    expect(await rig.run(job)).toMatchObject({ handedBack: '0', ran: 0 });
    expect(started).toEqual([]);
  });

  it('is heard at once when the queue says stop', async () => {
    const rig = await UnitRig.open(untilTold());
    const job = await rig.submit(['result']);
    const stop = new AbortController();
    const unit = rig.run(job, { stop: stop.signal });
    await rig.clock.rest();
    await rig.store.requestCancel(job.no, 'a person');
    stop.abort();
    expect(await unit).toMatchObject({ ran: 1 });
  });

  it('is heard of a job of which the queue says nothing, and of no other job', async () => {
    const rig = await UnitRig.open(untilTold());
    const [job, other] = [await rig.submit(['reason']), await rig.submit(['result'])];
    const [unit, otherUnit] = [rig.run(job), rig.run(other)];
    const otherEnded = jest.fn();
    void otherUnit.then(otherEnded);
    await rig.clock.rest();
    await rig.cancel(job);
    await unit;
    expect(otherEnded).not.toHaveBeenCalled();
    await rig.cancel(other);
    expect(await otherUnit).toMatchObject({ ran: 1 });
  });

  it('lets an item that does not react go on to its deadline, and then counts its time-out', async () => {
    const rig = await UnitRig.open(payloadOf(() => new Promise(() => undefined), { limits: { itemTimeout: 10_000 } }));
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.rest();
    await rig.cancel(job);
    await rig.clock.advance(11_200);
    expect(await unit).toMatchObject({ ran: 1, handedBack: '' });
    expect(await rig.views(job)).toMatchObject([{ attempts: 1, parked: { error: { code: 'item_timeout' } } }]);
  });

  it('is asked for by a stop without one: then nothing changes', async () => {
    const gate = latch();
    const rig = await UnitRig.open(payloadOf((_, ctx) => gate.promise.then(() => ctx.signal.aborted)));
    const job = await rig.submit([1]);
    const unit = rig.run(job, { stop: AbortSignal.abort() });
    await rig.clock.advance(5_000);
    gate.open();
    await unit;
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', body: { result: false } }]);
  });
});

describe('what a payload sees of a cancel', () => {
  it('is cancelled(), its signal, and each onCancel hook once, however late it is set', async () => {
    const seen: unknown[] = [];
    const payload = payloadOf(async (_, ctx) => {
      ctx.onCancel(() => void seen.push('early'));
      ctx.onCancel(() => {
        throw new Error('a hook that fails');
      });
      seen.push(ctx.cancelled());
      const reason = await aborted(ctx.signal);
      ctx.onCancel(() => void seen.push('late'));
      seen.push(ctx.cancelled(), (reason as { why: string }).why);
      return 1;
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.rest();
    await rig.cancel(job);
    await unit;
    await rig.clock.advance(3_000);
    expect(seen).toEqual([false, 'early', 'late', true, 'cancel']);
    expect(rig.lines).toMatchObject([{ level: 'warn', message: 'a hook of the payload failed' }]);
  });

  it('is no onCancel hook that is set when the attempt is over', async () => {
    const hook = jest.fn();
    let late: Context | undefined;
    const payload = payloadOf(async (_, ctx) => aborted((late = ctx).signal));
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.rest();
    await rig.cancel(job);
    await unit;
    late!.onCancel(hook);
    expect(hook).not.toHaveBeenCalled();
  });

  it('is no onCancel hook when it was told to stop for another reason', async () => {
    const hook = jest.fn();
    const payload = payloadOf(
      async (_, ctx) => {
        ctx.onCancel(hook);
        await aborted(ctx.signal);
        return ctx.cancelled();
      },
      { limits: { itemTimeout: 1_000 } },
    );
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(1_100);
    await unit;
    expect(await rig.views(job)).toMatchObject([{ body: { result: false } }]);
    expect(hook).not.toHaveBeenCalled();
  });

  it('is a signal that is aborted already when it is first asked for after the cancel', async () => {
    const [hooked, gate] = [latch(), latch()];
    const payload = payloadOf(async (_, ctx) => {
      ctx.onCancel(hooked.open);
      await gate.promise;
      return ctx.signal.aborted;
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.rest();
    await rig.cancel(job);
    await hooked.promise;
    gate.open();
    await unit;
    expect(await rig.views(job)).toMatchObject([{ body: { result: true } }]);
  });
});
