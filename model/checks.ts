import { roundUp } from './backoff';

/** Times between the checks of a wait, ms. */
export interface CheckPace {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Each check waits this much longer than the one before, up to the largest time. */
const GROWTH = 1.5;

/** A delay is made up to this part longer or shorter, so that jobs which began together do not stay together. */
const JITTER = 0.1;

/**
 * Due times of checks are rounded up to this part of their delay, and to a second at least. A vendor is asked about many
 * waits at once, and the workflow has few timers and few, contiguous sets: that needs waits to come due together.
 */
const GRAIN = { part: 0.2, leastMs: 1_000 };

/**
 * When the check after `checks` earlier ones is due, ms since the epoch: never early by more than the jitter, and late by
 * a fifth at the most. The jitter is the same for all waits of a job that were checked as often: they stay together.
 */
export function checkDue(now: number, checks: number, pace: CheckPace, jobNo: number): number {
  // Beyond this many the largest delay is long reached; the power would overflow.
  const delay = Math.min(pace.maxMs, pace.initialMs * GROWTH ** Math.min(checks, 100));
  const jittered = delay * (1 + JITTER * (2 * shared(jobNo, checks) - 1));
  return roundUp(now + jittered, Math.max(GRAIN.leastMs, Math.round(delay * GRAIN.part)));
}

/** A number in [0, 1) that is the same for the same job and check: a mixing of bits (splitmix32's), nothing secret. */
function shared(jobNo: number, checks: number): number {
  let bits = (Math.imul(jobNo, 0x9e3779b9) + Math.imul(checks + 1, 0x85ebca6b)) | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
}
