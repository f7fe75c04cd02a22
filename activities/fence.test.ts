import { aborted, latch } from '../test/support/latch';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, states } from '../test/support/unit-rig';

const LONG = { limits: { itemTimeout: '10m' } };

/** The queue then takes the unit for lost, should it still wait for this answer, and asks the store. */
const TAKEN_OVER = 'another delivery has taken over';

describe('a unit that was superseded', () => {
  it('tells what runs, starts nothing more, and writes nothing more', async () => {
    const gate = latch();
    const [started, reasons]: [string[], unknown[]] = [[], []];
    const payload = payloadOf<string>(async (item, ctx) => {
      started.push(item.id);
      if (item.input === 'quick') return gate.promise.then(() => 'too late');
      reasons.push(((await aborted(ctx.signal)) as { why: string }).why);
      return 'too late';
    }, LONG);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(['quick', 'slow', 'slow', 'slow']);
    const unit = expect(rig.run(job, { slots: 2 })).rejects.toThrow(TAKEN_OVER);
    await rig.clock.rest();
    await rig.store.nextGeneration(job.no, 1);
    gate.open();
    await rig.clock.advance(700);
    await unit;
    expect(reasons).toEqual(['superseded', 'superseded']);
    expect(started).toEqual(['i0', 'i1', 'i2']);
    expect(states(await rig.views(job))).toEqual(['pending', 'pending', 'pending', 'pending']);
    expect(rig.flushes.map(({ accepted }) => accepted)).not.toContain(true);
  });

  it('has what it used written all the same', async () => {
    const payload = payloadOf((_, ctx) => ctx.meter('tokens', 7, { key: 'a' }));
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    rig.faults.settle = () => {
      rig.faults.settle = () => undefined;
      return rig.store.nextGeneration(job.no, 1);
    };
    await expect(rig.run(job)).rejects.toThrow(TAKEN_OVER);
    expect(states(await rig.views(job))).toEqual(['pending']);
    await rig.store.endCancelled(job.no);
    await rig.store.finalize(job.no, 0);
    expect((await rig.store.jobByNo(job.no))?.statement?.usage).toEqual({ tokens: 7 });
  });

  it('hears of it once the queue wants it back, even if it has nothing to write', async () => {
    const payload = payloadOf((_, ctx) => aborted(ctx.signal), LONG);
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    const stop = new AbortController();
    const unit = expect(rig.run(job, { seq: 1, stop: stop.signal })).rejects.toThrow(TAKEN_OVER);
    await rig.clock.advance(1_000);
    await rig.store.recover(job.no, 1, 1, [0, 1]);
    stop.abort();
    await rig.clock.advance(3_000);
    await unit;
    expect(rig.flushes.every(({ accepted }) => !accepted)).toBe(true);
  });
});

describe('a unit that comes too late', () => {
  it.each([
    ['it was closed as lost', (rig: UnitRig, no: number) => rig.store.recover(no, 1, 1, [0, 1])],
    ['a newer generation speaks', (rig: UnitRig, no: number) => rig.store.nextGeneration(no, 1)],
  ])('runs nothing when %s', async (_, before) => {
    const run = jest.fn();
    const rig = await UnitRig.open(payloadOf(run));
    const job = await rig.submit([1]);
    await before(rig, job.no);
    await expect(rig.run(job, { seq: 1 })).rejects.toThrow(TAKEN_OVER);
    expect(run).not.toHaveBeenCalled();
    expect(rig.flushes).toEqual([]);
  });
});

it('of two deliveries of a unit the newer one counts', async () => {
  const gates = [latch(), latch()];
  let run = 0;
  const payload = payloadOf(() => {
    const delivery = run++;
    return gates[delivery]!.promise.then(() => delivery);
  }, LONG);
  const rig = await UnitRig.open(payload);
  const job = await rig.submit([1]);
  const older = expect(rig.run(job, { seq: 1 })).rejects.toThrow(TAKEN_OVER);
  await rig.clock.rest();
  const newer = rig.run(job, { seq: 1 }, rig.worker());
  await rig.clock.rest();
  gates[0]!.open();
  await older;
  expect(states(await rig.views(job))).toEqual(['pending']);
  gates[1]!.open();
  await newer;
  expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', body: { result: 1 } }]);
});
