import fc from 'fast-check';
import { FRESH, afterDeferral, afterFailure, type Budget, type ItemHistory } from './attempts';

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
    const history = { attempts: 0, deferrals: 3, deferredSince: NOW - 5_000 };
    expect(afterFailure(history, budget, NOW, 0)).toMatchObject({
      history: { attempts: 1, deferrals: 3, deferredSince: null },
    });
  });

  it('more attempts than a smaller budget allows are exhausted at once', () => {
    expect(afterFailure({ ...FRESH, attempts: 7 }, budget, NOW, 0)).toEqual({ kind: 'exhausted', attempts: 8 });
  });
});

describe('after a deferral', () => {
  it('an item is parked, and no attempt is counted', () => {
    expect(afterDeferral({ ...FRESH, attempts: 2 }, budget, NOW, 5_000)).toEqual({
      kind: 'park',
      due: NOW + 5_000,
      history: { attempts: 2, deferrals: 1, deferredSince: NOW },
    });
  });

  it('the ceiling in count is met by the deferral after it', () => {
    const history = { attempts: 1, deferrals: 3, deferredSince: NOW };
    expect(afterDeferral(history, budget, NOW, 1_000)).toMatchObject({ kind: 'park', history: { deferrals: 4 } });
    expect(afterDeferral({ ...history, deferrals: 4 }, budget, NOW, 1_000)).toEqual({ kind: 'exhausted', attempts: 1 });
  });

  it('the ceiling in time counts from the first deferral since the last attempt', () => {
    const history = { attempts: 0, deferrals: 1, deferredSince: NOW - 99_999 };
    const next = afterDeferral(history, budget, NOW, 1_000);
    expect(next).toMatchObject({ kind: 'park', history: { deferredSince: NOW - 99_999 } });
    expect(afterDeferral(history, budget, NOW + 1, 1_000)).toEqual({ kind: 'exhausted', attempts: 0 });
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
    expect(afterDeferral(FRESH, budget, NOW, delay)).toMatchObject({ due: NOW + expected });
  });

  it('a delay is a day at the most', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: 1, max: 1e15 }), (delay) => {
        const next = afterDeferral(FRESH, budget, NOW, delay);
        if (next.kind !== 'park') throw new Error('not parked');
        expect(next.due).toBeGreaterThanOrEqual(NOW + Math.min(delay, DAY));
        expect(next.due).toBeLessThanOrEqual(NOW + DAY * 1.05);
      }),
    );
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
        const next = isFailure ? afterFailure(history, budget, NOW, 0.5) : afterDeferral(history, budget, NOW, 1_000);
        if (next.kind === 'exhausted') {
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
