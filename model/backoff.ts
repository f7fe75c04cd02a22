export interface BackoffPolicy {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Up to this many attempts the delay is flat: most faults that a retry cures are gone after one delay. */
const FLAT_ATTEMPTS = 3;

/**
 * Delay in ms before the attempt after `attempts` ended ones: flat while attempts are few, then doubling with full
 * jitter (uniform between 0 and the doubled delay, but never under the flat one, so that jitter does not hammer).
 *
 * @param random a number in [0, 1) from a seeded source.
 */
export function backoffMs(attempts: number, policy: BackoffPolicy, random: number): number {
  if (attempts <= FLAT_ATTEMPTS) return policy.initialMs;
  const ceiling = Math.min(policy.maxMs, policy.initialMs * 2 ** (attempts - FLAT_ATTEMPTS));
  return Math.max(policy.initialMs, Math.round(ceiling * random));
}

/** Least grain of due times, ms. */
const LEAST_GRAIN_MS = 1_000;

/**
 * When something asked for at `now` for `delayMs` later comes due: rounded up to max(1 s, 5 % of the delay), so that a
 * thousand items parked about the same time share a timer. Never early.
 */
export function dueAt(now: number, delayMs: number): number {
  const grain = Math.max(LEAST_GRAIN_MS, Math.round(delayMs * 0.05));
  return roundUp(now + delayMs, grain);
}

/** The first multiple of `grain` that is not before `at`. */
export function roundUp(at: number, grain: number): number {
  return Math.ceil(at / grain) * grain;
}

/** The earlier of two times, where null is never. */
export function earliest(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
