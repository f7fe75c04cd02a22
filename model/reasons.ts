/** Why an item has the outcome it has, where the runner decided and not the payload: stable, machine-readable. */

/** Skipped: the job was cancelled before it was run to an end. */
export const CANCELLED = 'cancelled';

/** needs_review: a paid call was made, or may have been, and nobody can tell what came of it. */
export const UNKNOWN_CHARGE = 'unknown_charge';
