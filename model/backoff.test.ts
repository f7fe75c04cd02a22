import fc from 'fast-check';
import { backoffMs, dueAt } from './backoff';

const policies = fc
  .tuple(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 0, max: 1_000_000 }))
  .map(([initialMs, more]) => ({ initialMs, maxMs: initialMs + more }));
/** A number in [0, 1). */
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the delay before another attempt', () => {
  it('is flat after the first three, whatever the chance', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), policies, chance, (attempts, policy, random) => {
        expect(backoffMs(attempts, policy, random)).toBe(policy.initialMs);
      }),
    );
  });

  it('then doubles at the most with each attempt, up to the largest', () => {
    const policy = { initialMs: 100, maxMs: 1_500 };
    const most = [4, 5, 6, 7, 8, 100].map((attempts) => backoffMs(attempts, policy, 1));
    expect(most).toEqual([200, 400, 800, 1_500, 1_500, 1_500]);
  });

  it('lies between the first delay and the largest, whole, for any number of attempts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), policies, chance, (attempts, policy, random) => {
        const delay = backoffMs(attempts, policy, random);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(policy.initialMs);
        expect(delay).toBeLessThanOrEqual(policy.maxMs);
      }),
    );
  });

  it('is spread over all of that by chance, never shorter for a higher one', () => {
    const policy = { initialMs: 100, maxMs: 100_000 };
    const spread = [0, 0.25, 0.5, 0.75, 0.999].map((random) => backoffMs(10, policy, random));
    expect(spread).toEqual([100, 3_200, 6_400, 9_600, 12_787]);
  });
});

describe('a due time', () => {
  const nows = fc.integer({ min: 0, max: 4_000_000_000_000 });
  const delays = fc.integer({ min: 0, max: 86_400_000 });

  it('is never early, and late by a second or 5 % of the delay at the most', () => {
    fc.assert(
      fc.property(nows, delays, (now, delay) => {
        const due = dueAt(now, delay);
        expect(due).toBeGreaterThanOrEqual(now + delay);
        expect(due - now - delay).toBeLessThan(Math.max(1_000, delay * 0.05 + 1));
      }),
    );
  });

  it('is shared by what is parked within the same second', () => {
    const dues = Array.from({ length: 1_000 }, (_, ms) => dueAt(1_700_000_000_001 + ms, 5_000));
    expect(new Set(dues).size).toBeLessThanOrEqual(2);
  });

  it('is on the grain already when the time asked for is', () => {
    expect([dueAt(10_000, 2_000), dueAt(10_001, 2_000), dueAt(0, 60_000)]).toEqual([12_000, 13_000, 60_000]);
  });
});
