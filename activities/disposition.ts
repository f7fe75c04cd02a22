import { types } from 'node:util';
import { findDefer, findReject, isReview, type Defer, type Payload, type Reject } from '../contract';
import { afterDeferral, afterFailure } from '../model/attempts';
import { toErrorInfo, toIssues, type ErrorInfo } from '../model/error-info';
import type { Plan } from '../model/plan';
import type { OutcomeBody } from '../store';
import { MAX_RESULT_BYTES, type ActivityDeps } from './deps';
import { Stopped, type Ending, type StopReason } from './invocation';
import type { WorkItem } from './item-source';
import type { UnitBuffer } from './unit-buffer';

/** An item as an attempt of it is judged. */
export interface Judged {
  readonly deps: Pick<ActivityDeps, 'clock' | 'random'>;
  readonly payload: Payload;
  readonly plan: Plan;
  readonly buffer: UnitBuffer;
}

/**
 * Records what an attempt of `item` led to: an outcome, a parking, or nothing at all. Never throws, though judging
 * reads what the payload gave: its schema, its getters may.
 * @returns false when it led to nothing: the item is to be handed back, and no attempt is counted.
 */
export function dispose(unit: Judged, item: WorkItem, ending: Ending, told: StopReason | undefined): boolean {
  try {
    return judge(unit, item, ending, told);
  } catch (error) {
    if ('value' in ending) return fail(unit, item, readable(error, 'result_invalid'));
    if (told !== undefined && told !== 'timeout') return false;
    return failed(unit, item, readable('error' in ending ? ending.error : error));
  }
}

function judge(unit: Judged, item: WorkItem, ending: Ending, told: StopReason | undefined): boolean {
  if ('value' in ending) return answered(unit, item, ending.value, told);
  if ('abandoned' in ending && ending.abandoned !== 'timeout') return false;
  if ('abandoned' in ending || told === 'timeout') return timedOut(unit, item, ending);
  const reject = findReject(ending.error);
  if (reject) return rejected(unit, item, reject);
  // It was told to stop and did: whatever it threw says nothing about the item.
  if (told !== undefined || ending.error instanceof Stopped) return false;
  const defer = findDefer(ending.error);
  if (defer) return deferred(unit, item, defer);
  return failed(unit, item, toErrorInfo(ending.error));
}

/** An error that may not even be looked at: a getter of it throws, a proxy of it is revoked. */
export function readable(error: unknown, code?: string): ErrorInfo {
  try {
    return toErrorInfo(error, code);
  } catch {
    return { code: code ?? 'error', message: 'an error that cannot be shown' };
  }
}

/** Whether it is an error, also one of another realm, as those of Node's own code are under a test runner. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** A value that a payload returned or settled with. */
function answered(unit: Judged, item: WorkItem, value: unknown, told: StopReason | undefined): boolean {
  if (isError(value)) return dispose(unit, item, { error: value }, told);
  if (isReview(value)) {
    const { reason, draft } = value;
    return end(unit, item, 'needs_review', draft === undefined ? { reason } : { reason, draft });
  }
  const parsed = unit.payload.result.safeParse(value);
  if (!parsed.success) {
    return fail(
      unit,
      item,
      toIssues('result_invalid', 'the payload returned what its result schema does not allow', parsed.error.issues),
    );
  }
  return end(unit, item, 'succeeded', { result: parsed.data });
}

function end(unit: Judged, item: WorkItem, outcome: 'succeeded' | 'needs_review', body: OutcomeBody): boolean {
  let text: string;
  try {
    text = JSON.stringify(body);
  } catch (error) {
    return fail(unit, item, readable(error, 'result_not_json'));
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_RESULT_BYTES) {
    const message = `the result is ${bytes} bytes of JSON, over the limit of ${MAX_RESULT_BYTES}`;
    return fail(unit, item, { code: 'result_too_large', message });
  }
  unit.buffer.settle(item.index, outcome, item.history.attempts + 1, body, bytes);
  return true;
}

/** The item fails for good, on this attempt. */
export function fail(unit: Judged, item: WorkItem, error: ErrorInfo, attempts = item.history.attempts + 1): boolean {
  unit.buffer.settle(item.index, 'failed', attempts, { error }, error.message.length + (error.stack?.length ?? 0));
  return true;
}

/** The code of a Reject is the payload's own, so it is held to what a code may be. */
function rejected(unit: Judged, item: WorkItem, reject: Reject): boolean {
  const info = toErrorInfo(reject);
  return fail(unit, item, info.code === 'error' ? { ...info, code: 'rejected' } : info);
}

function failed(unit: Judged, item: WorkItem, error: ErrorInfo): boolean {
  const { clock, random } = unit.deps;
  const next = afterFailure(item.history, unit.plan, clock.now(), random());
  if (next.kind === 'exhausted') return fail(unit, item, error, next.attempts);
  unit.buffer.park(item.index, 'retry', next.due, next.history, error);
  return true;
}

function timedOut(unit: Judged, item: WorkItem, ending: Ending): boolean {
  const reject = 'error' in ending ? findReject(ending.error) : undefined;
  if (reject) return rejected(unit, item, reject);
  return failed(unit, item, {
    code: 'item_timeout',
    message: `the attempt did not end within ${unit.plan.itemTimeoutMs} ms`,
  });
}

function deferred(unit: Judged, item: WorkItem, defer: Defer): boolean {
  // A payload in JavaScript may say anything here; what is no time comes back at the soonest.
  const { until, after } = (defer.when ?? {}) as { until?: Date; after?: number };
  const delay = until === undefined ? Number(after) : new Date(until).getTime() - unit.deps.clock.now();
  return postpone(unit, item, delay, toErrorInfo(defer, 'deferred'));
}

/** Parks the item without counting an attempt; at the ceiling it fails with a code of its own. */
export function postpone(unit: Judged, item: WorkItem, delayMs: number, why: ErrorInfo): boolean {
  const next = afterDeferral(item.history, unit.plan, unit.deps.clock.now(), delayMs);
  if (next.kind === 'exhausted') {
    const message = `deferred ${item.history.deferrals} times, the last time because: ${why.message}`;
    return fail(unit, item, { code: 'deferral_limit', message }, next.attempts);
  }
  unit.buffer.park(item.index, 'defer', next.due, next.history, why);
  return true;
}
