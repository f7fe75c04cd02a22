/**
 * The errors by which a payload steers the runner. Everything else it throws is retried.
 *
 * They carry a brand under a registered symbol instead of relying on `instanceof`: a payload is often bundled,
 * minified, or resolved from a second copy of this package, and then its `Reject` is another class than ours.
 */
const BRAND = Symbol.for('itemwise.disposition');

/** How deep a cause chain is followed; a cyclic chain ends there too. */
const MAX_CAUSES = 16;

export interface RejectOptions {
  /** A stable, machine-readable reason, kept on the outcome. Default `rejected`. */
  code?: string;
  cause?: unknown;
}

/** "This will never work": the item fails on this attempt, whatever is left of its retry budget. */
export class Reject extends Error {
  override readonly name: string = 'Reject';
  readonly code: string;
  readonly [BRAND] = 'reject' as const;

  constructor(message: string, options: RejectOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code ?? 'rejected';
  }
}

/** When a deferred item should come back: at a moment, or after a number of milliseconds. */
export type DeferUntil = { until: Date } | { after: number };

/** "Not now": the item is parked until then, and no attempt is counted. */
export class Defer extends Error {
  override readonly name: string = 'Defer';
  readonly when: DeferUntil;
  readonly [BRAND] = 'defer' as const;

  /**
   * @param reason why, for the person who reads the item.
   * @param when `{ until: Date }` or `{ after: ms }`. The runner clamps it to its own bounds.
   */
  constructor(reason: string, when: DeferUntil) {
    super(reason);
    this.when = when;
  }
}

/**
 * Thrown from a paid call: "the vendor answered, and nothing was done". The intent is withdrawn and the attempt has
 * failed; the next one sends the call again. Any other error leaves open whether the vendor did it.
 */
export class Declined extends Error {
  override readonly name: string = 'Declined';
  readonly [BRAND] = 'declined' as const;

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
  }
}

/** Reads a property of something thrown, which may be anything: also an object whose getters throw. */
function read(value: object, key: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}

/** The nearest error of the brand along `error` and its causes, or undefined. */
function findBranded(error: unknown, brand: 'reject' | 'defer' | 'declined'): unknown {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof current === 'object' && current !== null; depth++) {
    if (read(current, BRAND) === brand) return current;
    current = read(current, 'cause');
  }
  return undefined;
}

/** The `Reject` that `error` is or was caused by, also one of another copy of this package. */
export function findReject(error: unknown): Reject | undefined {
  return findBranded(error, 'reject') as Reject | undefined;
}

/** The `Defer` that `error` is or was caused by, also one of another copy of this package. */
export function findDefer(error: unknown): Defer | undefined {
  return findBranded(error, 'defer') as Defer | undefined;
}

/** Whether `error` is or was caused by a `Declined`, also one of another copy of this package. */
export function isDeclined(error: unknown): boolean {
  return findBranded(error, 'declined') !== undefined;
}
