const BRAND = Symbol.for('itemwise.review');

/** "A person must look at this": the item ends as needs_review, with a reason and what the payload has so far. */
export interface Review {
  readonly [BRAND]: true;
  readonly reason: string;
  /** Plain data for the reviewer: candidates, a half-made result. */
  readonly draft?: unknown;
}

/** Makes the value that `ctx.review` returns; a payload returns or settles with it. */
export function review(reason: string, draft?: unknown): Review {
  return draft === undefined ? { [BRAND]: true, reason } : { [BRAND]: true, reason, draft };
}

/** Whether a payload's answer is a review, also one made by another copy of this package. */
export function isReview(value: unknown): value is Review {
  return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
}
