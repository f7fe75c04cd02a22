import { Reject, type Context } from '../contract';
import { aborted, latch } from '../test/support/latch';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';

const TIMEOUT = { limits: { itemTimeout: 10_000, maxAttempts: 2 } };

/** A payload of which the items listed as deaf hang until they are released, and the others are done at once. */
function deaf(ids: string[]) {
  const released = latch();
  const contexts: Context[] = [];
  const runs: string[] = [];
  const payload = payloadOf<string>(async (item, ctx) => {
    runs.push(item.id);
    contexts.push(ctx);
    if (ids.includes(item.id)) await released.promise;
    return 'late';
  }, TIMEOUT);
  return { payload, contexts, runs, release: () => released.open() };
}

describe('an attempt that is not done in time', () => {
  it('is told through its signal', async () => {
    const told = latch<unknown>();
    const rig = await UnitRig.open(
      payloadOf(async (_, ctx) => {
        told.open(await aborted(ctx.signal));
        return 'in time after all';
      }, TIMEOUT),
    );
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(10_100);
    expect(await told.promise).toMatchObject({ name: 'Stopped', why: 'timeout' });
    await unit;
    expect(await rig.views(job)).toMatchObject([
      { state: 'succeeded', attempts: 1, body: { result: 'in time after all' } },
    ]);
  });

  it('counts with the code item_timeout when it ends with an error of its own', async () => {
    const payload = payloadOf(async (_, ctx) => Promise.reject((await aborted(ctx.signal)) as Error), TIMEOUT);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(10_100);
    expect(await unit).toMatchObject({ ran: 1, handedBack: '' });
    const [item] = await rig.views(job);
    expect(item).toMatchObject({ state: 'waiting', attempts: 1, parked: { error: { code: 'item_timeout' } } });
    expect(item!.parked!.error!.message).toContain('10000 ms');
  });

  it('may still end with a Reject', async () => {
    const payload = payloadOf(async (_, ctx) => {
      await aborted(ctx.signal);
      throw new Reject('hopeless', { code: 'hopeless' });
    }, TIMEOUT);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(10_100);
    await unit;
    expect(await rig.views(job)).toMatchObject([{ state: 'failed', attempts: 1 }]);
    expect(code((await rig.views(job))[0])).toBe('hopeless');
  });

  it('is abandoned a second after it was told, and its slot freed', async () => {
    const { payload, runs, release } = deaf(['i0']);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1, 2]);
    const unit = rig.run(job, { slots: 1 });
    await rig.clock.advance(10_900);
    expect(runs).toEqual(['i0']);
    await rig.clock.advance(300);
    expect(await unit).toMatchObject({ ran: 2, handedBack: '' });
    expect(states(await rig.views(job))).toEqual(['waiting', 'succeeded']);
    release();
  });

  it('fails for good when it was the last', async () => {
    const { payload, release } = deaf(['i0']);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1], { maxAttempts: 1 });
    const unit = rig.run(job);
    await rig.clock.advance(11_200);
    expect(await unit).toMatchObject({ nextDue: null });
    expect(await rig.views(job)).toMatchObject([{ state: 'failed', attempts: 1 }]);
    release();
  });
});

describe('an abandoned attempt', () => {
  it('has a Context that does nothing, and a result that nobody takes, though its unit still runs', async () => {
    const [late, long] = [latch(), latch()];
    let context: Context | undefined;
    const payload = payloadOf<string>(async (item, ctx) => {
      if (item.input === 'long') return long.promise;
      context = ctx;
      return late.promise;
    }, TIMEOUT);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(['deaf', 'long', 'never started']);
    const unit = rig.run(job, { slots: 1 });
    await rig.clock.advance(11_600);
    expect(states(await rig.views(job))).toEqual(['waiting', 'pending', 'pending']);
    const before = (await rig.views(job))[0];
    const hook = jest.fn();
    context!.progress(1, 2);
    context!.log.info('too late');
    context!.onCancel(hook);
    late.open();
    await rig.clock.advance(1_000);
    expect((await rig.views(job))[0]).toEqual(before);
    expect(await rig.jobLog(job)).toEqual([]);
    await rig.cancel(job);
    expect(hook).not.toHaveBeenCalled();
    long.open();
    await unit;
  });

  it('may say what it used, even after its unit', async () => {
    const { payload, contexts, release } = deaf(['i0']);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(11_200);
    await unit;
    contexts[0]!.meter('tokens', 3, { key: 'a' });
    await rig.clock.rest();
    await rig.store.endCancelled(job.no);
    await rig.store.finalize(job.no, 0);
    expect((await rig.store.jobByNo(job.no))?.statement?.usage).toEqual({ tokens: 3 });
    release();
  });

  it('has the item deferred, and not run twice at once, for as long as it runs', async () => {
    const { payload, runs, release } = deaf(['i0']);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const first = rig.run(job);
    await rig.clock.advance(11_200);
    await first;
    await rig.clock.advance(5_000);
    expect(await rig.run(job)).toMatchObject({ ran: 0, handedBack: '' });
    const [item] = await rig.views(job);
    expect(item).toMatchObject({ state: 'deferred', attempts: 1, parked: { deferrals: 1 } });
    expect(code(item)).toBe('still_running');
    expect(runs).toHaveLength(1);
    release();
    await rig.clock.advance(10_000);
    await rig.run(job);
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', attempts: 2 }]);
    expect(runs).toHaveLength(2);
  });

  it('that rejects after all disturbs nobody', async () => {
    const gate = latch();
    const payload = payloadOf(() => gate.promise.then(() => Promise.reject(new Error('late'))), TIMEOUT);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.advance(11_200);
    await unit;
    gate.open();
    await rig.clock.rest();
    expect(code((await rig.views(job))[0])).toBe('item_timeout');
  });
});

it('an item that runs in a unit taken for lost is not run at once by the unit that follows', async () => {
  const { payload, runs, release } = deaf(['i0']);
  const rig = await UnitRig.open(payload);
  const job = await rig.submit([1]);
  const lost = expect(rig.run(job, { seq: 1 })).rejects.toThrow('another delivery has taken over');
  await rig.clock.advance(200);
  await rig.store.recover(job.no, 1, 1, [0, 1]);
  expect(await rig.run(job, { seq: 2 })).toMatchObject({ ran: 0 });
  expect(code((await rig.views(job))[0])).toBe('still_running');
  release();
  await lost;
  await rig.clock.advance(10_000);
  await rig.run(job, { seq: 3 });
  expect(runs).toHaveLength(2);
  expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', attempts: 1 }]);
});

it('no timer and no listener is left when a unit ends', async () => {
  const rig = await UnitRig.open(payloadOf(() => 'done'));
  await rig.items([1, 2, 3]);
  expect(rig.clock.ticking).toBe(0);
});
