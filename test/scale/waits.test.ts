import { slowVendor } from '../support/slow-vendor';
import { SkippingLoop } from '../support/skipping-loop';

jest.setTimeout(120_000);

/** `npm run bench:waits` does the same with 50,000. */
const ITEMS = 1_000;
const CHECKS = 120;

it(`${ITEMS} items wait for an hour and are checked ${CHECKS} times each: few units, a small state, nothing run twice`, async () => {
  const vendor = slowVendor({ answersAfter: CHECKS, every: 30_000 });
  const loop = await SkippingLoop.open(vendor.payload, ':memory:');
  const job = await loop.run(ITEMS);
  expect(job).toMatchObject({ state: 'succeeded', outcomes: { succeeded: ITEMS } });
  expect([vendor.starts.length, vendor.runs, vendor.resumes]).toEqual([ITEMS, ITEMS, ITEMS]);
  expect([...vendor.asked.values()].every((times) => times === CHECKS)).toBe(true);
  expect(loop.skippedMs).toBeGreaterThan(3_500_000);
  expect(loop.largestState).toBeLessThan(64 * 1024);
  // Waits that were asked about together stay together: a unit of checks is far from one item.
  expect(loop.units['check']).toBeLessThan((ITEMS * CHECKS) / 300);
  await loop.store.close();
});
