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
