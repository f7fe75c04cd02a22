import type { LeftOut } from './lineage-port';

/** The store cannot be reached, or stayed locked for as long as the caller would wait. Nothing was written. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** An item id occurs twice in one upload. Positions count from 0. */
export class DuplicateItemId extends Error {
  override readonly name = 'DuplicateItemId';

  constructor(
    readonly itemId: string,
    readonly first: number,
    readonly second: number,
  ) {
    super(`item id ${JSON.stringify(itemId)} occurs at positions ${first} and ${second}`);
  }
}

/** The idempotency key belongs to a submit with another body. */
export class IdempotencyConflict extends Error {
  override readonly name = 'IdempotencyConflict';
}

/** A job of the lineage has not ended: two of them at once could pay twice. */
export class LineageBusy extends Error {
  override readonly name = 'LineageBusy';

  constructor(readonly jobId: string) {
    super(`${jobId} has not ended`);
  }
}

/** Items that were to be retried cannot be; without any named, there is nothing to be retried. */
export class NotRetryable extends Error {
  override readonly name = 'NotRetryable';

  constructor(
    readonly why: 'unknown_items' | 'succeeded_items' | 'nothing_left',
    message: string,
    readonly itemIds: readonly string[] = [],
    readonly leftOut: LeftOut = { openCalls: 0, retriedSince: 0 },
  ) {
    super(message);
  }
}
