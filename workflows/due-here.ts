/** What an activity says of a time to come: when, and what its worker's clock showed when it said so. */
export interface Due {
  readonly nextDue: number | null;
  /** ms since the epoch by the worker's clock. Absent in answers of older releases. */
  readonly at?: number | undefined;
}

/** An answer takes up to this long from its worker to the workflow when nothing is wrong, ms. */
const ON_ITS_WAY_MS = 1_000;

/**
 * When it is due by the workflow's clock, which is the server's, and by which its timers run. The worker's may be wrong:
 * ahead of it, a retry in a second would come minutes late; behind it, it would be asked for again and again till then.
 */
export function dueHere({ nextDue, at }: Due, now: number): number | null {
  if (nextDue === null || at === undefined) return nextDue;
  const ahead = now - at;
  return ahead >= 0 && ahead <= ON_ITS_WAY_MS ? nextDue : nextDue + ahead;
}
