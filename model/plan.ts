import type { ResolvedLimits } from '../contract';
import type { Budget } from './attempts';
import type { Tuning } from './unit-size';

/** What a job was promised at submit, pinned with it: later releases of the payload do not change it. */
export interface Plan extends Budget {
  readonly tuning: Tuning;
  readonly itemTimeoutMs: number;
}

/** What a job may ask for itself. */
export interface PlanOptions {
  readonly concurrency?: number | undefined;
  readonly maxAttempts?: number | undefined;
}

/** A payload's limits as a job's plan: its own options count where they are under the limits. */
export function planOf(
  payload: { readonly limits: ResolvedLimits; readonly batches?: unknown },
  options: PlanOptions = {},
): Plan {
  const { concurrency, maxAttempts, unitMax, batch, itemTimeoutMs, backoff, deferral } = payload.limits;
  return {
    tuning: {
      window: Math.min(options.concurrency ?? concurrency, concurrency),
      unitMax,
      batch: payload.batches ? batch : null,
    },
    itemTimeoutMs,
    maxAttempts: Math.min(options.maxAttempts ?? maxAttempts, maxAttempts),
    backoff,
    deferral,
  };
}
