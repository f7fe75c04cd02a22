import { Defer, z, type Checked, type WaitSpec } from '../contract';
import { encode, range } from '../model/index-set';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';
import { SlowVendor, answered, check, waitingFor } from './fixtures/waiting';

describe('an item that waits', () => {
  it('is started once, holds no slot, is asked about with the others, and goes on with its answer', async () => {
    const vendor = new SlowVendor();
    const rig = await UnitRig.open(waitingFor(vendor));
    const job = await rig.submit(['a', 'b', 'c']);
    const run = await rig.run(job);
    expect(run).toMatchObject({ ran: 3, handedBack: '' });
    expect(run.nextDue).toBeGreaterThan(rig.clock.now());
    expect(await rig.views(job)).toMatchObject([
      { state: 'waiting', attempts: 0, parked: { kind: 'wait' }, wait: { name: 'verdict', remoteId: 'r-a' } },
      { wait: { remoteId: 'r-b' } },
      { wait: { remoteId: 'r-c' } },
    ]);
    vendor.states.set('r-b', { state: 'ready', answer: 'yes' });
    const checked = await check(rig, job);
    expect(vendor.asked).toEqual([['r-a', 'r-b', 'r-c']]);
    expect(checked).toMatchObject({ handedBack: encode([1, 2]) });
    await answered(rig, job, checked.handedBack);
    expect(await rig.views(job)).toMatchObject([
      { state: 'waiting' },
      { state: 'succeeded', attempts: 1, body: { result: { answer: 'yes' } }, wait: null },
      { state: 'waiting' },
    ]);
    expect(vendor.starts).toHaveLength(3);
  });

  it('is not run by a unit that meets it, but named as one to be checked', async () => {
    const vendor = new SlowVendor();
    const rig = await UnitRig.open(waitingFor(vendor));
    const job = await rig.submit(['a', 'b']);
    await rig.run(job, { indexes: [0] });
    await rig.clock.advance(13_000);
    expect(await rig.run(job)).toMatchObject({ check: encode([0, 1]), handedBack: '' });
    expect(vendor.starts).toHaveLength(2);
  });

  it('keeps its remote id and is not started again when its worker died in between', async () => {
    const vendor = new SlowVendor();
    const rig = await UnitRig.open(waitingFor(vendor));
    const job = await rig.submit(['a']);
    // The start is journaled; then the worker dies before the parking is written.
    rig.faults.settle = () => {
      throw new Error('the process died');
    };
    await rig.run(job, { seq: 1 }).catch(() => undefined);
    rig.faults.settle = () => undefined;
    await rig.store.recover(job.no, 1, 1, range(0, 1));
    await rig.run(job, { seq: 2 });
    expect(vendor.starts).toHaveLength(1);
    expect(await rig.views(job)).toMatchObject([{ parked: { kind: 'wait' }, wait: { remoteId: 'r-a' } }]);
  });

  it('gets the same answer when resume fails and is tried again', async () => {
    const vendor = new SlowVendor();
    const answers: string[] = [];
    const payload = waitingFor(vendor, {}, (answer) => {
      answers.push(answer);
      if (answers.length < 3) throw new Error('later');
      return 'done';
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit(['a']);
    await rig.run(job);
    vendor.states.set('r-a', { state: 'ready', answer: 'yes' });
    await check(rig, job);
    for (let i = 0; i < 3; i++) {
      await rig.run(job);
      await rig.clock.advance(2_000);
    }
    expect(answers).toEqual(['yes', 'yes', 'yes']);
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', attempts: 3 }]);
    expect([vendor.starts.length, vendor.asked.length]).toEqual([1, 1]);
  });

  it('gets the answer as its schema gives it out', async () => {
    const vendor = new SlowVendor();
    const answer = z.string().transform((text) => text.toUpperCase());
    const rig = await UnitRig.open(waitingFor(vendor, { answer }));
    const job = await rig.submit(['a']);
    await rig.run(job);
    vendor.states.set('r-a', { state: 'ready', answer: 'yes' });
    await check(rig, job);
    await rig.run(job);
    expect(await rig.views(job)).toMatchObject([{ body: { result: { answer: 'YES' } } }]);
  });

  it('whose start returns no remote id may have been charged: that is for a person', async () => {
    const vendor = new SlowVendor();
    const rig = await UnitRig.open(waitingFor(vendor, { start: () => undefined as never }));
    const job = await rig.submit(['a'], { maxAttempts: 1 });
    await rig.run(job);
    expect(await rig.views(job)).toMatchObject([{ state: 'needs_review', body: { reason: 'unknown_charge' } }]);
  });

  it('may wait again from resume, for something else', async () => {
    const vendor = new SlowVendor();
    const payload = payloadOf((_, ctx) => ctx.wait('verdict', 'one'), {
      waits: { verdict: vendor.wait() },
      resume: {
        verdict: (_: unknown, ctx: { wait: (name: string, args: unknown) => unknown }, answer: string) =>
          answer === 'first' ? ctx.wait('verdict', 'two') : answer,
      },
    });
    const rig = await UnitRig.open(payload);
    const job = await rig.submit([1]);
    await rig.run(job);
    vendor.states.set('r-one', { state: 'ready', answer: 'first' });
    await check(rig, job);
    await rig.run(job);
    expect(await rig.views(job)).toMatchObject([{ wait: { remoteId: 'r-two' } }]);
    vendor.states.set('r-two', { state: 'ready', answer: 'second' });
    await check(rig, job);
    await rig.run(job);
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', body: { result: 'second' } }]);
    expect(new Set(vendor.starts).size).toBe(2);
  });
});

describe('what a check finds', () => {
  const one = async (more: Partial<WaitSpec> = {}) => {
    const vendor = new SlowVendor();
    const rig = await UnitRig.open(waitingFor(vendor, more));
    const job = await rig.submit(['a']);
    await rig.run(job);
    return { vendor, rig, job };
  };

  it.each([
    ['expired', { state: 'expired', reason: 'too old' }, 'wait_expired'],
    ['an answer that does not fit', { state: 'ready', answer: 7 }, 'wait_answer_invalid'],
  ] as const)('%s: the item fails with a code of its own and the remote id', async (_, state, expected) => {
    const { vendor, rig, job } = await one();
    vendor.states.set('r-a', state as Checked<string>);
    await check(rig, job);
    const [item] = await rig.views(job);
    expect([item!.state, code(item), item!.body?.remoteId]).toEqual(['failed', expected, 'r-a']);
  });

  it('an id that the vendor does not know is tolerated for a while: it may just be slow to learn it', async () => {
    const { vendor, rig, job } = await one({ tolerate: 2 });
    vendor.states.set('r-a', undefined);
    await check(rig, job);
    await check(rig, job);
    expect(states(await rig.views(job))).toEqual(['waiting']);
    await check(rig, job);
    const [item] = await rig.views(job);
    expect([item!.state, code(item)]).toEqual(['failed', 'wait_unknown_id']);
  });

  it('failed checks are tolerated for a while, and a good one in between starts the count again', async () => {
    const { vendor, rig, job } = await one({ tolerate: 2 });
    const fail = (): void => {
      throw new Error('the vendor is away');
    };
    for (const act of [fail, fail, () => undefined, fail, fail]) {
      vendor.onCheck = act;
      await check(rig, job);
    }
    expect(states(await rig.views(job))).toEqual(['waiting']);
    vendor.onCheck = fail;
    await check(rig, job);
    const [item] = await rig.views(job);
    expect([item!.state, code(item)]).toEqual(['failed', 'wait_check_failed']);
  });

  it('a vendor that asks for patience is given it, and that is no failed check', async () => {
    const { vendor, rig, job } = await one({ tolerate: 0 });
    vendor.onCheck = () => {
      throw new Defer('busy', { after: 60_000 });
    };
    const { nextDue } = await check(rig, job);
    expect(nextDue! - rig.clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(states(await rig.views(job))).toEqual(['waiting']);
  });

  it('an item that waited too long fails, and its vendor is asked to stop; an answer that is there by then counts', async () => {
    const { vendor, rig, job } = await one({ maxWait: '1m' });
    await check(rig, job, 61);
    const [item] = await rig.views(job);
    expect([item!.state, code(item), vendor.cancelled]).toEqual(['failed', 'wait_timeout', ['r-a']]);

    const late = await one({ maxWait: '1m' });
    late.vendor.states.set('r-a', { state: 'ready', answer: 'late' });
    expect(await check(late.rig, late.job, 61)).toMatchObject({ handedBack: '0' });
  });

  it('nothing, when the vendor does not answer in time: the check is one of those that failed', async () => {
    const { vendor, rig, job } = await one();
    vendor.onCheck = () => new Promise(() => undefined);
    await rig.clock.advance(13_000);
    const unit = rig.run(job, { lane: 'check', slots: 0 });
    await rig.clock.advance(31_000);
    expect(await unit).toMatchObject({ handedBack: '', ran: 1 });
    expect(states(await rig.views(job))).toEqual(['waiting']);
  });
});

it('checks grow apart up to the largest time, and what was asked together stays together', async () => {
  const vendor = new SlowVendor();
  const rig = await UnitRig.open(waitingFor(vendor, { every: { initial: '10s', max: '30s' }, checkBatch: 40 }));
  const job = await rig.submit(Array.from({ length: 100 }, (_, i) => i));
  let { nextDue } = await rig.run(job, { slots: 50 });
  const gaps: number[] = [];
  for (let i = 0; i < 6; i++) {
    const before = rig.clock.now();
    await rig.clock.advance(nextDue! - before + 2_000);
    gaps.push(Math.round((rig.clock.now() - before) / 1_000));
    ({ nextDue } = await rig.run(job, { lane: 'check', slots: 0 }));
  }
  expect(gaps[1]!).toBeGreaterThan(gaps[0]! + 2);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(37);
  expect(vendor.asked.slice(0, 3).map((ids) => ids.length)).toEqual([40, 40, 20]);
  expect(vendor.asked).toHaveLength(18);
  const dues = new Set((await rig.views(job)).map((item) => item.parked!.due));
  expect(dues.size).toBeLessThanOrEqual(3);
});

it('no more waits are open than may be; the others come again as if they had not been started', async () => {
  const vendor = new SlowVendor();
  const rig = await UnitRig.open(waitingFor(vendor, { maxOpen: 3 }));
  const job = await rig.submit(['a', 'b', 'c', 'd', 'e']);
  const full = await rig.run(job, { slots: 2 });
  expect(full).toMatchObject({ ran: 3, handedBack: encode([3, 5]) });
  expect(full.fullMs).toBeGreaterThan(0);
  expect(vendor.starts).toHaveLength(3);
  vendor.states.set('r-a', { state: 'ready', answer: 'yes' });
  await check(rig, job);
  await rig.run(job, { indexes: [3, 4] });
  expect(vendor.starts).toHaveLength(4);
  expect((await rig.views(job)).map((item) => item.attempts)).toEqual([0, 0, 0, 0, 0]);
});

it('a wait that is not declared, or whose arguments do not fit, is an error of the payload', async () => {
  const vendor = new SlowVendor();
  const undeclared = payloadOf((_, ctx) => ctx.wait('nothing' as never, 1));
  expect((await (await UnitRig.open(undeclared)).items([1])).map(code)).toEqual(['wait_not_declared']);
  const misfit = waitingFor(vendor, { args: z.object({ sku: z.string() }) });
  const [item] = await (await UnitRig.open(misfit)).items([7]);
  expect([code(item), item!.attempts]).toEqual(['wait_args_invalid', 1]);
});
