import { Defer, createRegistry } from '../contract';
import { latch } from '../test/support/latch';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';

const zeros = (n: number): number[] => Array.from({ length: n }, () => 0);

describe('the answer of a unit', () => {
  it('says how many attempts ended, how long it took, and when the first of the parked comes due', async () => {
    const payload = payloadOf<string>(
      async (item) => {
        await rig.clock.advance(100);
        if (item.input === 'later') throw new Defer('later', { after: 60_000 });
        if (item.input === 'soon') throw new Defer('soon', { after: 5_000 });
        if (item.input === 'retry') throw new Error('no');
        return 1;
      },
      { limits: { backoff: { initial: '20s' } } },
    );
    const rig = await UnitRig.open(payload);
    const start = rig.clock.now();
    const job = await rig.submit(['ok', 'later', 'soon', 'retry']);
    const answer = await rig.run(job, { slots: 1 });
    const dues = (await rig.views(job)).flatMap((item) => item.parked?.due ?? []);
    expect(answer).toEqual({ handedBack: '', nextDue: Math.min(...dues), ran: 4, wallMs: 400 });
    expect(dues.map((due) => due >= start + 5_000)).toEqual([true, true, true]);
  });

  it('counts what was parked before among what comes due', async () => {
    const rig = await UnitRig.open(
      payloadOf(() => Promise.reject(new Error('no')), { limits: { backoff: { initial: '20s' } } }),
    );
    const job = await rig.submit([1]);
    const { nextDue } = await rig.run(job);
    expect(await rig.run(job)).toMatchObject({ nextDue, ran: 0, handedBack: '' });
  });
});

describe('a unit', () => {
  it('runs what is open of its set, and nothing twice', async () => {
    const runs: string[] = [];
    const rig = await UnitRig.open(payloadOf((item) => runs.push(item.id)));
    const job = await rig.submit(zeros(6));
    await rig.run(job, { indexes: [1, 4] });
    await rig.run(job, { indexes: [0, 1, 2, 4] });
    expect(runs).toEqual(['i1', 'i4', 'i0', 'i2']);
  });

  it('has at most as many items running as it has slots', async () => {
    let running = 0;
    let most = 0;
    const payload = payloadOf(async () => {
      most = Math.max(most, ++running);
      await rig.clock.breathe();
      running--;
    });
    const rig = await UnitRig.open(payload);
    await rig.items(zeros(50), { slots: 7 });
    expect(most).toBe(7);
  });

  it('says how many run, while they run', async () => {
    const gate = latch();
    const rig = await UnitRig.open(payloadOf(() => gate.promise));
    const job = await rig.submit(zeros(5));
    const unit = rig.run(job, { slots: 3 });
    await rig.clock.advance(600);
    expect(await rig.store.counts(job)).toMatchObject({ running: 3, pending: 2 });
    gate.open();
    await unit;
    expect(await rig.store.counts(job)).toMatchObject({ succeeded: 5, running: 0 });
  });

  it('writes its outcomes as it goes: a thousand at the most are not in the store', async () => {
    const rig = await UnitRig.open(payloadOf(() => 1));
    await rig.items(zeros(2_500), { slots: 50 });
    const sizes = rig.flushes.map(({ flush }) => flush.settled.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_050);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2_500);
  });

  it('gives others the event loop while quick items follow each other', async () => {
    const rig = await UnitRig.open(payloadOf(() => 1));
    const breaths = jest.spyOn(rig.clock, 'breathe');
    // Each look at the clock finds it 5 ms on: an item takes no less.
    let time = rig.clock.now();
    Object.assign(rig.clock, { now: () => (time += 5) });
    await rig.items(zeros(100));
    expect(breaths.mock.calls.length).toBeGreaterThan(10);
  });

  it('gives the payload its params and config, checked', async () => {
    const rig = await UnitRig.open(payloadOf((_, ctx) => [ctx.params, ctx.config]));
    const job = await rig.submit([1], {}, { most: 3 });
    await rig.run(job);
    expect((await rig.views(job))[0]!.body).toEqual({ result: [{ most: 3 }, { setting: 'value' }] });
  });

  it('of a capability that this worker does not have is handed back, and nothing sent for a while', async () => {
    const rig = await UnitRig.open(payloadOf(() => 1));
    const job = await rig.submit([1, 2]);
    const other = rig.worker(createRegistry([]));
    expect(await rig.run(job, {}, other)).toEqual({
      handedBack: '0+2',
      nextDue: null,
      ran: 0,
      wallMs: 0,
      holdMs: 5_000,
    });
    expect(states(await rig.views(job))).toEqual(['pending', 'pending']);
    await rig.run(job);
    expect(states(await rig.views(job))).toEqual(['succeeded', 'succeeded']);
  });
});

describe('C13: one counter with two meanings: the two budgets of an item', () => {
  it('stand apart: ten deferrals and two failures leave it its third attempt', async () => {
    const acts = [...zeros(5).map(() => 'defer'), 'fail', ...zeros(5).map(() => 'defer'), 'fail', 'ok'];
    const payload = payloadOf(() => {
      const act = acts.shift();
      if (act === 'defer') throw new Defer('busy', { after: 1_000 });
      if (act === 'fail') throw new Error('no');
      return 1;
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    while (acts.length > 0) {
      await rig.run(job);
      await rig.clock.advance(5_000);
    }
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', attempts: 3 }]);
  });

  it.each([
    ['count', { max: 4, maxTimeMs: 86_400_000 }, 'deferral_limit'],
    ['time', { max: 1_000, maxTimeMs: 20_000 }, 'deferral_timeout'],
  ])('end a deferral without end by its %s, with a code of its own and no attempt', async (_, deferral, expected) => {
    let ran = 0;
    const payload = payloadOf(() => {
      ran++;
      throw new Defer('busy', { after: 1_000 });
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1], { deferral });
    while ((await rig.views(job))[0]!.state !== 'failed') {
      await rig.run(job);
      await rig.clock.advance(5_000);
    }
    const [item] = await rig.views(job);
    expect([code(item), item!.attempts, ran]).toEqual([expected, 0, 5]);
    expect(item!.body!.error!.message).toContain('busy');
  });
});
