import { z } from 'zod';
import type { Context } from '../../contract';
import { latch } from '../../test/support/latch';
import { payloadOf } from '../../test/support/payload-of';
import { UnitRig } from '../../test/support/unit-rig';

const PLAN = { itemTimeoutMs: 1_000, maxAttempts: 1 };

/** A payload that is deaf to its time-out. */
const charging = (send: () => unknown, reconcile?: () => { state: 'absent' }) =>
  payloadOf((_, ctx) => ctx.vendor('acme').call('charge', send, reconcile ? { reconcile } : {}));

/** Runs one item for as long as its time-out and the patience with it take. */
async function runOut(rig: UnitRig, meanwhile: () => void = () => undefined) {
  const job = await rig.submit([1], PLAN);
  const run = rig.run(job);
  await rig.clock.advance(2_500);
  meanwhile();
  await run;
  await rig.clock.advance(2_000);
  const [item] = await rig.views(job);
  return { item: item!, job };
}

describe('an attempt that is left behind', () => {
  it('before its intent is stored makes no call any more, and leaves none open', async () => {
    let calls = 0;
    const slow = latch();
    const rig = await UnitRig.open(charging(() => ++calls));
    rig.faults.journal = (writes) => (writes[0]!.type === 'intent' ? slow.promise : undefined);
    const { item, job } = await runOut(rig, () => slow.open());
    expect(item).toMatchObject({ state: 'pending', attempts: 0 });
    expect(calls).toBe(0);
    expect(await rig.store.openIntents(job.no)).toEqual([]);
    const look = { type: 'look' as const, rootNo: job.no, subject: `i:${item.id}`, call: 'acme/charge' };
    expect(await rig.store.journal([look])).toEqual([{ is: 'absent' }]);
  });

  it('during a call, with no attempt left to find out, is a charge that nobody knows of', async () => {
    const rig = await UnitRig.open(charging(() => new Promise(() => undefined)));
    const { item } = await runOut(rig);
    expect(item).toMatchObject({ state: 'needs_review', body: { reason: 'unknown_charge' } });
  });

  it('while its result is being stored did not fail: the store was slow, and what was charged is known', async () => {
    const slow = latch();
    const rig = await UnitRig.open(charging(() => 'receipt'));
    rig.faults.journal = (writes) => (writes[0]!.type === 'result' ? slow.promise : undefined);
    const { item, job } = await runOut(rig, () => slow.open());
    expect(item).toMatchObject({ state: 'pending', attempts: 0 });
    delete rig.faults.journal;
    await rig.run(job);
    expect(await rig.views(job)).toMatchObject([{ state: 'succeeded', attempts: 1 }]);
    expect(rig.journaled.filter((write) => write.type === 'intent').map((write) => write.token)).toHaveLength(2);
  });
});

it('a call that is answered hides no other whose answer was lost', async () => {
  const run = async (_: unknown, ctx: Context): Promise<never> => {
    const lost = (): never => {
      throw new Error('socket hang up');
    };
    await ctx
      .vendor('acme')
      .call('first', lost)
      .catch(() => undefined);
    await ctx.vendor('acme').call('second', () => 'receipt');
    throw new Error('fails after both');
  };
  const rig = await UnitRig.open(payloadOf(run));
  const [item] = await rig.items([1], {}, { maxAttempts: 1 });
  expect(item).toMatchObject({ state: 'needs_review', body: { reason: 'unknown_charge' } });
  expect(item!.body!.draft).toMatchObject({ calls: [{ call: 'acme/first' }] });
});

it('a result that does not fit hides no call whose answer was lost', async () => {
  const run = async (_: unknown, ctx: Context): Promise<unknown> => {
    const lost = (): never => {
      throw new Error('socket hang up');
    };
    await ctx
      .vendor('acme')
      .call('charge', lost)
      .catch(() => undefined);
    return 'no number';
  };
  const rig = await UnitRig.open(payloadOf(run, { result: z.number() }));
  const [item] = await rig.items([1], {}, { maxAttempts: 1 });
  expect(item).toMatchObject({ state: 'needs_review', body: { reason: 'unknown_charge' } });
});
