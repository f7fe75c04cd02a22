import { backoffMs, dueAt, roundUp, type BackoffPolicy } from './backoff';

/** What an item has behind it when it is parked; all zero before its first attempt. */
export interface ItemHistory {
  /** Attempts that ended and counted. */
  readonly attempts: number;
  readonly deferrals: number;
  /** When it was first deferred since its last attempt, ms since the epoch; null when it was not. */
  readonly deferredSince: number | null;
  /** Attempts that its worker's shutdown broke off, in a row and without progress; they count as none. */
  readonly returns: number;
}

export const FRESH: ItemHistory = Object.freeze({ attempts: 0, deferrals: 0, deferredSince: null, returns: 0 });

/**
 * What a parked item waits for. `retry`: another attempt. `defer`: the time it was put off to. `wait`: an answer that is
 * asked for when it comes due. `answer`: to go on with the answer it got. `suspect`: to be run in quarantine.
 */
export const PARK_KINDS = ['retry', 'defer', 'wait', 'answer', 'suspect'] as const;
export type ParkKind = (typeof PARK_KINDS)[number];

/** The limits that an item's budget is held to. */
export interface Budget {
  readonly maxAttempts: number;
  readonly backoff: BackoffPolicy;
  readonly deferral: { readonly max: number; readonly maxTimeMs: number };
}

export type Park = { readonly kind: 'park'; readonly due: number; readonly history: ItemHistory };
export type Exhausted = { readonly kind: 'exhausted'; readonly attempts: number };
export type Overdue = { readonly kind: 'overdue'; readonly attempts: number };

/** What follows an attempt that failed: parked until another one, or its budget is spent. */
export function afterFailure(history: ItemHistory, budget: Budget, now: number, random: number): Park | Exhausted {
  const attempts = history.attempts + 1;
  if (attempts >= budget.maxAttempts) return { kind: 'exhausted', attempts };
  const due = dueAt(now, backoffMs(attempts, budget.backoff, random));
  return { kind: 'park', due, history: { ...history, attempts, deferredSince: null, returns: 0 } };
}

/** A deferral comes back no sooner than this and no later than a day, whatever the payload asks. */
const DEFER_LEAST_MS = 1_000;
const DEFER_MOST_MS = 86_400_000;

/** Deferred items come back over this part of their delay, or at this many a second where the job is large; within this. */
const SPREAD = { part: 0.2, itemsPerSecond: 200, mostMs: 60_000, stepMs: 1_000 };

/**
 * How much later than asked a deferred item of a job of `items` comes back, ms: a vendor that sent a thousand away at
 * once would do so again if they all came back in one second.
 */
function spreadMs(delayMs: number, items: number, random: number): number {
  const byNumber = (items / SPREAD.itemsPerSecond) * 1_000;
  return Math.round(Math.min(SPREAD.mostMs, Math.max(SPREAD.part * delayMs, byNumber)) * random);
}

/**
 * What follows a deferral: parked without counting an attempt, or one of the two ceilings is met: `exhausted` that on
 * their number, `overdue` that on their time.
 *
 * @param items of the job; with `random` it says how deferred items are spread.
 */
export function afterDeferral(
  history: ItemHistory,
  budget: Budget,
  now: number,
  deferral: { readonly delayMs: number; readonly items: number; readonly random: number },
): Park | Exhausted | Overdue {
  const deferrals = history.deferrals + 1;
  const deferredSince = history.deferredSince ?? now;
  if (deferrals > budget.deferral.max) return { kind: 'exhausted', attempts: history.attempts };
  if (now - deferredSince >= budget.deferral.maxTimeMs) return { kind: 'overdue', attempts: history.attempts };
  const { delayMs, items, random } = deferral;
  const clamped = Number.isFinite(delayMs)
    ? Math.min(DEFER_MOST_MS, Math.max(DEFER_LEAST_MS, delayMs))
    : DEFER_LEAST_MS;
  // Spread after the rounding: the grain of a long delay would put them together again.
  const due = dueAt(now, clamped) + roundUp(spreadMs(clamped, items, random), SPREAD.stepMs);
  return { kind: 'park', due, history: { ...history, deferrals, deferredSince, returns: 0 } };
}

/** Attempts broken off by shutdowns in a row, without progress, after which an item fails instead of coming back. */
export const RETURN_LIMIT = 20;

/** What follows an attempt that a shutdown broke off: no attempt is counted, but not for ever. */
export function afterReturn(history: ItemHistory, progressed: boolean): Omit<Park, 'due'> | Exhausted {
  const returns = progressed ? 0 : history.returns + 1;
  if (returns >= RETURN_LIMIT) return { kind: 'exhausted', attempts: history.attempts };
  return { kind: 'park', history: { ...history, returns } };
}
