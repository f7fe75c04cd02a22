import fc from 'fast-check';
import {
  FRESH,
  RETURN_LIMIT,
  afterDeferral,
  afterFailure,
  afterReturn,
  type Budget,
  type ItemHistory,
} from './attempts';

const budget: Budget = {
  maxAttempts: 3,
  backoff: { initialMs: 2_000, maxMs: 60_000 },
  deferral: { max: 4, maxTimeMs: 100_000 },
};
const NOW = 1_700_000_000_000;
const DAY = 86_400_000;

describe('after a failure', () => {
  it('an item is parked until its budget is spent, then it is exhausted', () => {
    const first = afterFailure(FRESH, budget, NOW, 0);
    expect(first).toEqual({ kind: 'park', due: NOW + 2_000, history: { ...FRESH, attempts: 1 } });
    const second = afterFailure({ ...FRESH, attempts: 1 }, budget, NOW, 0);
    expect(second).toMatchObject({ kind: 'park', history: { attempts: 2 } });
    expect(afterFailure({ ...FRESH, attempts: 2 }, budget, NOW, 0)).toEqual({ kind: 'exhausted', attempts: 3 });
  });

  it('an item has as many attempts as its budget says, and never one more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (maxAttempts) => {
        let history: ItemHistory = FRESH;
        for (let attempt = 1; ; attempt++) {
          const next = afterFailure(history, { ...budget, maxAttempts }, NOW, 0.5);
          if (next.kind === 'exhausted') return expect([attempt, next.attempts]).toEqual([maxAttempts, maxAttempts]);
          history = next.history;
        }
      }),
    );
  });

  it('the time that it was deferred starts anew, and how often does not', () => {
    const history = { ...FRESH, deferrals: 3, deferredSince: NOW - 5_000, returns: 4 };
    expect(afterFailure(history, budget, NOW, 0)).toMatchObject({
      history: { attempts: 1, deferrals: 3, deferredSince: null, returns: 0 },
    });
  });

  it('more attempts than a smaller budget allows are exhausted at once', () => {
    expect(afterFailure({ ...FRESH, attempts: 7 }, budget, NOW, 0)).toEqual({ kind: 'exhausted', attempts: 8 });
  });
});

/** A deferral of a job of one item, which nothing spreads. */
const defer = (history: ItemHistory, delayMs: number, now = NOW) =>
  afterDeferral(history, budget, now, { delayMs, items: 1, random: 0 });

describe('after a deferral', () => {
  it('an item is parked, and no attempt is counted', () => {
    expect(defer({ ...FRESH, attempts: 2, returns: 3 }, 5_000)).toEqual({
      kind: 'park',
      due: NOW + 5_000,
      history: { attempts: 2, deferrals: 1, deferredSince: NOW, returns: 0 },
    });
  });

  it('the ceiling in count is met by the deferral after it', () => {
    const history = { ...FRESH, attempts: 1, deferrals: 3, deferredSince: NOW };
    expect(defer(history, 1_000)).toMatchObject({ kind: 'park', history: { deferrals: 4 } });
    expect(defer({ ...history, deferrals: 4 }, 1_000)).toEqual({ kind: 'exhausted', attempts: 1 });
  });

  it('the ceiling in time counts from the first deferral since the last attempt', () => {
    const history = { ...FRESH, deferrals: 1, deferredSince: NOW - 99_999 };
    expect(defer(history, 1_000)).toMatchObject({ kind: 'park', history: { deferredSince: NOW - 99_999 } });
    expect(defer(history, 1_000, NOW + 1)).toEqual({ kind: 'overdue', attempts: 0 });
  });

  it.each([
    [-5, 1_000],
    [0, 1_000],
    [999, 1_000],
    [NaN, 1_000],
    [Infinity, 1_000],
    [-Infinity, 1_000],
    [1_500, 2_000],
  ])('a delay of %p comes back after %p', (delay, expected) => {
    expect(defer(FRESH, delay)).toMatchObject({ due: NOW + expected });
  });

  it('is never early, a day at the most, and spread over a fifth of its delay or a minute', () => {
    const delays = fc.double({ noNaN: true, min: 1, max: 1e15 });
    const luck = fc.double({ noNaN: true, min: 0, max: 1, maxExcluded: true });
    fc.assert(
      fc.property(delays, luck, fc.integer({ min: 1, max: 300_000 }), (delayMs, random, items) => {
        const next = afterDeferral(FRESH, budget, NOW, { delayMs, items, random });
        if (next.kind !== 'park') throw new Error('not parked');
        const asked = Math.min(Math.max(delayMs, 1_000), DAY);
        expect(next.due).toBeGreaterThanOrEqual(NOW + asked);
        expect(next.due).toBeLessThanOrEqual(NOW + (asked + 60_000) * 1.05 + 1_000);
      }),
    );
  });

  it.each([1_000, 30_000, 600_000])(
    'a thousand items sent away for %p ms do not come back in one second',
    (delayMs) => {
      const perSecond = new Map<number, number>();
      for (let i = 0; i < 1_000; i++) {
        const next = afterDeferral(FRESH, budget, NOW, { delayMs, items: 1_000, random: i / 1_000 });
        if (next.kind !== 'park') throw new Error('not parked');
        const second = Math.floor(next.due / 1_000);
        perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
      }
      expect(Math.max(...perSecond.values())).toBeLessThan(600);
      expect(perSecond.size).toBeGreaterThanOrEqual(2);
    },
  );

  it('the more items a job has, the longer until all are back, up to a minute, in few due times', () => {
    const dues = (items: number): number[] => {
      const all = Array.from({ length: items }, (_, i) =>
        afterDeferral(FRESH, budget, NOW, { delayMs: 5_000, items, random: i / items }),
      ).map((next) => (next.kind === 'park' ? next.due - NOW : NaN));
      return [...new Set(all)];
    };
    expect(dues(1)).toEqual([5_000]);
    expect(Math.max(...dues(4_000))).toBe(5_000 + 20_000);
    expect(Math.max(...dues(100_000))).toBe(5_000 + 60_000);
    expect(dues(100_000).length).toBeLessThanOrEqual(61);
  });
});

describe('after a shutdown broke an attempt off', () => {
  it('no attempt is counted, and the item comes again', () => {
    expect(afterReturn({ ...FRESH, attempts: 1 }, false)).toEqual({
      kind: 'park',
      history: { ...FRESH, attempts: 1, returns: 1 },
    });
  });

  it('it fails when that goes on and on, and not while it makes progress', () => {
    const last = { ...FRESH, returns: RETURN_LIMIT - 1 };
    expect(afterReturn(last, false)).toEqual({ kind: 'exhausted', attempts: 0 });
    expect(afterReturn(last, true)).toEqual({ kind: 'park', history: FRESH });
  });
});

it('any course of failures and deferrals ends, with the attempts it took', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.boolean()), (fails) => {
      let history: ItemHistory = FRESH;
      let [failures, deferrals] = [0, 0];
      for (const isFailure of fails) {
        if (isFailure) failures++;
        else deferrals++;
        const next = isFailure ? afterFailure(history, budget, NOW, 0.5) : defer(history, 1_000);
        if (next.kind !== 'park') {
          expect(next.attempts).toBe(failures);
          break;
        }
        history = next.history;
      }
      expect(failures).toBeLessThanOrEqual(budget.maxAttempts);
      expect(deferrals).toBeLessThanOrEqual(budget.deferral.max + 1);
    }),
  );
});
