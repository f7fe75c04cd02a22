import { latch } from '../test/support/latch';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig } from '../test/support/unit-rig';
import type { StartedLog } from './deps';

/** A started log that remembers each write. */
function noted() {
  const writes: [number, number][] = [];
  const freed = { count: 0 };
  const started: StartedLog = {
    place: () => ({
      enter: (_, index, count = 1) => void writes.push([index, count]),
      free: () => void freed.count++,
    }),
  };
  return { started, writes, freed };
}

it('items that take their time are named one by one, each before it starts', async () => {
  const { started, writes, freed } = noted();
  const gate = latch();
  const seen: number[] = [];
  const payload = payloadOf<number>((item) => {
    seen.push(writes.filter(([index]) => index === item.input).length);
    return gate.promise.then(() => 1);
  });
  const rig = await UnitRig.open(payload);
  rig.started = started;
  const job = await rig.submit([0, 1, 2, 3]);
  const unit = rig.run(job, { slots: 2 }, rig.worker());
  await rig.clock.rest();
  gate.open();
  await unit;
  expect(seen).toEqual([1, 1, 1, 1]);
  expect(writes.every(([, count]) => count === 1)).toBe(true);
  expect(freed.count).toBe(2);
});

it('items that take no time are named by the dozen, none left out and none of another unit among them', async () => {
  const { started, writes } = noted();
  const named = new Set<number>();
  const payload = payloadOf<number>((item) => {
    for (const [index, count] of writes) for (let i = 0; i < count; i++) named.add(index + i);
    if (!named.has(item.input)) throw new Error('it started unnamed');
    return 1;
  });
  const rig = await UnitRig.open(payload);
  rig.started = started;
  const job = await rig.submit(Array.from({ length: 400 }, (_, i) => i));
  // A unit of two runs of neighbours with a gap between them.
  const indexes = [...Array(150).keys(), ...Array.from({ length: 150 }, (_, i) => 200 + i)];
  await rig.run(job, { slots: 3, indexes }, rig.worker());
  expect(await rig.store.counts(job)).toMatchObject({ succeeded: 300, pending: 100 });
  expect(writes.length).toBeLessThan(120);
  for (const index of named) expect(indexes).toContain(index);
});
