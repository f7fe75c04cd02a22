/**
 * All that a payload may import.
 *
 *   errors.ts    Reject and Defer, by which a payload steers the runner
 *   review.ts    the answer "a person must look at this"
 *   context.ts   the verbs a payload may use
 *   payload.ts   definePayload, limits and their defaults
 *   registry.ts  the set of payloads a process serves
 *   duration.ts  '30s' to milliseconds
 */
export { z } from 'zod';
export { Defer, Reject, findDefer, findReject, type DeferUntil, type RejectOptions } from './errors';
export { isReview, review, type Review } from './review';
export { toMs, type Duration } from './duration';
export type { BaseContext, Batch, BatchContext, Context, Item, MeterOptions, PayloadLog } from './context';
export {
  DEFAULT_LIMITS,
  definePayload,
  isPayload,
  type BatchesPayload,
  type Payload,
  type PayloadLimits,
  type PayloadSpec,
  type ResolvedLimits,
  type RunPayload,
} from './payload';
export { createRegistry, type Registry } from './registry';
