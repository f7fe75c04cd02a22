import { backoffMs, dueAt, type BackoffPolicy } from './backoff';

/** What an item has behind it when it is parked; all zero before its first attempt. */
export interface ItemHistory {
  /** Attempts that ended and counted. */
  readonly attempts: number;
  readonly deferrals: number;
  /** When it was first deferred since its last attempt, ms since the epoch; null when it was not. */
  readonly deferredSince: number | null;
}

export const FRESH: ItemHistory = Object.freeze({ attempts: 0, deferrals: 0, deferredSince: null });

/** The limits that an item's budget is held to. */
export interface Budget {
  readonly maxAttempts: number;
  readonly backoff: BackoffPolicy;
  readonly deferral: { readonly max: number; readonly maxTimeMs: number };
}

export type Park = { readonly kind: 'park'; readonly due: number; readonly history: ItemHistory };
export type Exhausted = { readonly kind: 'exhausted'; readonly attempts: number };

/** What follows an attempt that failed: parked until another one, or its budget is spent. */
export function afterFailure(history: ItemHistory, budget: Budget, now: number, random: number): Park | Exhausted {
  const attempts = history.attempts + 1;
  if (attempts >= budget.maxAttempts) return { kind: 'exhausted', attempts };
  const due = dueAt(now, backoffMs(attempts, budget.backoff, random));
  return { kind: 'park', due, history: { ...history, attempts, deferredSince: null } };
}

/** A deferral comes back no sooner than this and no later than a day, whatever the payload asks. */
const DEFER_LEAST_MS = 1_000;
const DEFER_MOST_MS = 86_400_000;

/** What follows a deferral: parked without counting an attempt, or one of the two ceilings is met. */
export function afterDeferral(history: ItemHistory, budget: Budget, now: number, delayMs: number): Park | Exhausted {
  const deferrals = history.deferrals + 1;
  const deferredSince = history.deferredSince ?? now;
  if (deferrals > budget.deferral.max || now - deferredSince >= budget.deferral.maxTimeMs) {
    return { kind: 'exhausted', attempts: history.attempts };
  }
  const clamped = Number.isFinite(delayMs)
    ? Math.min(DEFER_MOST_MS, Math.max(DEFER_LEAST_MS, delayMs))
    : DEFER_LEAST_MS;
  return { kind: 'park', due: dueAt(now, clamped), history: { ...history, deferrals, deferredSince } };
}
