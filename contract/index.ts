/**
 * All that a payload may import.
 *
 *   errors.ts    Reject and Defer, by which a payload steers the runner
 *   review.ts    the answer "a person must look at this"
 *   context.ts   the verbs a payload may use
 *   payload.ts   definePayload, limits and their defaults
 *   vendor.ts    paid calls
 *   wait.ts      waiting for something slow at a vendor
 *   registry.ts  the set of payloads a process serves
 *   duration.ts  '30s' to milliseconds
 *   retry-after.ts  a Retry-After header to what Defer takes
 */
export { z } from 'zod';
export {
  Declined,
  Defer,
  Reject,
  findDefer,
  findReject,
  isDeclined,
  type DeferUntil,
  type RejectOptions,
} from './errors';
export { isReview, review, type Review } from './review';
export { toMs, type Duration } from './duration';
export { retryAfter } from './retry-after';
export type { CallInfo, CallOptions, OnceOptions, Reconciled, Vendor } from './vendor';
export {
  defineWait,
  isWaiting,
  waiting,
  type CheckContext,
  type Checked,
  type Wait,
  type WaitContext,
  type WaitSpec,
  type Waiting,
} from './wait';
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
  type Waits,
} from './payload';
export { createRegistry, type Registry } from './registry';
