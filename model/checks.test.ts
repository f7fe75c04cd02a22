import fc from 'fast-check';
import { checkDue } from './checks';

const NOW = 1_700_000_000_000;
const MINUTE = { initialMs: 10_000, maxMs: 60_000 };

it('a check is due after its time, give or take a tenth, and late by a fifth at the most', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 10_000_000 }),
      fc.nat({ max: 200 }),
      fc.nat({ max: 1_000_000 }),
      (later, checks, jobNo) => {
        const now = NOW + later;
        const nominal = Math.min(60_000, 10_000 * 1.5 ** Math.min(checks, 100));
        const delay = checkDue(now, checks, MINUTE, jobNo) - now;
        expect(delay).toBeGreaterThanOrEqual(nominal * 0.9);
        expect(delay).toBeLessThanOrEqual(nominal * 1.3 + 1);
      },
    ),
  );
});

it('waits of a job that were checked together are due together, also when they are not asked in the same moment', () => {
  const pace = { initialMs: 30_000, maxMs: 30_000 };
  const dues = new Set(Array.from({ length: 1_000 }, (_, i) => checkDue(NOW + i, 3, pace, 7)));
  expect(dues.size).toBeLessThanOrEqual(2);
});

it('jobs that began together do not stay together', () => {
  const pace = { initialMs: 600_000, maxMs: 600_000 };
  const dues = new Set(Array.from({ length: 50 }, (_, jobNo) => checkDue(NOW, 0, pace, jobNo)));
  expect(dues.size).toBeGreaterThan(1);
});
