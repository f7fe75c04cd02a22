import { decode } from '../model/index-set';
import { aborted, latch } from '../test/support/latch';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';

const LONG = { limits: { itemTimeout: '10m' } };
const GRACE = { shutdownGraceMs: 5_000 };
const never = (): Promise<never> => new Promise(() => undefined);

describe('a worker that shuts down', () => {
  it('hands back a unit that comes then, and does not open it', async () => {
    const rig = await UnitRig.open(payloadOf(() => 1));
    const job = await rig.submit([1, 2]);
    rig.draining.abort();
    expect(await rig.run(job)).toEqual({ handedBack: '0+2', nextDue: null, ran: 0, wallMs: 0 });
    expect(await rig.store.jobByNo(job.no)).toMatchObject({ state: 'accepted' });
  });

  it('hands back what is not started, and lets what runs finish within the grace', async () => {
    const gate = latch();
    const rig = await UnitRig.open(
      payloadOf((_, ctx) => gate.promise.then(() => ctx.signal.aborted)),
      GRACE,
    );
    const job = await rig.submit([1, 2, 3, 4]);
    const unit = rig.run(job, { slots: 2 });
    await rig.clock.rest();
    rig.draining.abort();
    await rig.clock.advance(4_900);
    gate.open();
    expect(await unit).toMatchObject({ handedBack: '2+2', ran: 2 });
    const items = await rig.views(job);
    expect(items.map((item) => item.body?.result)).toEqual([false, false, undefined, undefined]);
  });

  it('tells what runs when the grace is over, and counts no attempt of what then breaks off', async () => {
    const reasons: unknown[] = [];
    const payload = payloadOf<string>(async (item, ctx) => {
      reasons.push(((await aborted(ctx.signal)) as { why: string }).why);
      if (item.input === 'throws') throw new Error('broken off');
      return 'just in time';
    }, LONG);
    const rig = await UnitRig.open(payload, GRACE);
    const job = await rig.submit(['throws', 'returns']);
    const unit = rig.run(job);
    await rig.clock.rest();
    rig.draining.abort();
    await rig.clock.advance(5_000);
    expect(reasons).toEqual([]);
    await rig.clock.advance(200);
    expect(await unit).toMatchObject({ handedBack: '0', ran: 1 });
    expect(reasons).toEqual(['shutdown', 'shutdown']);
    expect(await rig.views(job)).toMatchObject([{ state: 'waiting', attempts: 0 }, { state: 'succeeded' }]);
  });

  it('abandons what does not react a second after that, and counts no attempt', async () => {
    const rig = await UnitRig.open(payloadOf(never, LONG), GRACE);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.rest();
    rig.draining.abort();
    await rig.clock.advance(6_300);
    expect(await unit).toMatchObject({ handedBack: '0', ran: 0 });
    expect(await rig.views(job)).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  });

  it('does not wait longer for an item of a job that is being cancelled', async () => {
    const rig = await UnitRig.open(payloadOf(never, LONG), GRACE);
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.rest();
    await rig.cancel(job);
    rig.draining.abort();
    await rig.clock.advance(6_300);
    expect(await unit).toMatchObject({ handedBack: '0', ran: 0 });
  });

  it('counts a failure before it was told as a failure', async () => {
    const gate = latch();
    const rig = await UnitRig.open(
      payloadOf(() => gate.promise.then(() => Promise.reject(new Error('real')))),
      GRACE,
    );
    const job = await rig.submit([1]);
    const unit = rig.run(job);
    await rig.clock.rest();
    rig.draining.abort();
    await rig.clock.advance(1_000);
    gate.open();
    expect(await unit).toMatchObject({ handedBack: '', ran: 1 });
    expect(await rig.views(job)).toMatchObject([{ state: 'waiting', attempts: 1 }]);
  });
});

describe('a unit whose budget is spent', () => {
  it('hands back what is not started, and waits for what runs without telling it', async () => {
    const gate = latch();
    const rig = await UnitRig.open(
      payloadOf((_, ctx) => gate.promise.then(() => ctx.signal.aborted)),
      {
        unitBudgetMs: 3_000,
      },
    );
    const job = await rig.submit([1, 2, 3]);
    const unit = rig.run(job, { slots: 1 });
    await rig.clock.advance(6_000);
    gate.open();
    const { handedBack, ran, wallMs } = await unit;
    expect([...decode(handedBack)]).toEqual([1, 3]);
    expect({ ran, wallMs }).toEqual({ ran: 1, wallMs: 6_000 });
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', body: { result: false } }, {}, {}]);
  });

  it('goes on where it left off when it is sent again', async () => {
    const rig = await UnitRig.open(
      payloadOf(async () => {
        await rig.clock.advance(400);
        return 1;
      }),
      { unitBudgetMs: 1_000 },
    );
    const job = await rig.submit([1, 2, 3, 4, 5]);
    const { handedBack } = await rig.run(job, { slots: 1 });
    expect(handedBack).toBe('3+2');
    await rig.run(job, { slots: 1, indexes: [3, 4] });
    expect(states(await rig.views(job))).toEqual(Array.from({ length: 5 }, () => 'succeeded'));
  });
});

it('a unit heartbeats for as long as it runs, however slow its items are', async () => {
  const gate = latch();
  const rig = await UnitRig.open(
    payloadOf(() => gate.promise, LONG),
    { heartbeatMs: 2_000 },
  );
  const job = await rig.submit([1]);
  const heartbeat = jest.fn();
  const unit = rig.run(job, { heartbeat });
  await rig.clock.advance(10_000);
  expect(heartbeat).toHaveBeenCalledTimes(5);
  gate.open();
  await unit;
  await rig.clock.advance(10_000);
  expect(heartbeat).toHaveBeenCalledTimes(5);
});

it('an attempt that ended with an error before the worker was told to stop keeps that error', async () => {
  const hook = latch();
  const payload = payloadOf((_, ctx) => {
    ctx.cleanup(() => hook.promise);
    throw Object.assign(new Error('real'), { code: 'real' });
  }, LONG);
  const rig = await UnitRig.open(payload, { shutdownGraceMs: 0 });
  const job = await rig.submit([1]);
  const unit = rig.run(job);
  await rig.clock.rest();
  rig.draining.abort();
  await rig.clock.advance(500);
  hook.open();
  expect(await unit).toMatchObject({ ran: 1, handedBack: '' });
  expect(code((await rig.views(job))[0])).toBe('real');
});
