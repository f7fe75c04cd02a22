import { findDefer, findReject, isReview, type Payload } from '../contract';
import { afterDeferral, afterFailure } from '../model/attempts';
import { toErrorInfo, toIssues, type ErrorInfo } from '../model/error-info';
import type { Plan } from '../model/plan';
import type { OutcomeBody } from '../store';
import { MAX_RESULT_BYTES, type ActivityDeps } from './deps';
import type { Ending } from './invocation';
import { Stopped, type StopReason } from './invocation';
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
 * Records what an attempt of `item` led to: an outcome, a parking, or nothing at all.
 * @returns false when it led to nothing: the item is to be handed back, and no attempt is counted.
 */
export function dispose(unit: Judged, item: WorkItem, ending: Ending, told: StopReason | undefined): boolean {
  if ('value' in ending) return answered(unit, item, ending.value);
  if ('abandoned' in ending && ending.abandoned !== 'timeout') return false;
  if ('abandoned' in ending || told === 'timeout') return timedOut(unit, item, ending);
  const reject = findReject(ending.error);
  if (reject) return fail(unit, item, toErrorInfo(reject, reject.code));
  // It was told to stop and did: whatever it threw says nothing about the item.
  if (told !== undefined || ending.error instanceof Stopped) return false;
  const defer = findDefer(ending.error);
  if (defer) return deferred(unit, item, defer);
  return failed(unit, item, toErrorInfo(ending.error));
}

/** A value that a payload returned or settled with. */
function answered(unit: Judged, item: WorkItem, value: unknown): boolean {
  if (value instanceof Error) return dispose(unit, item, { error: value }, undefined);
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
    return fail(unit, item, toErrorInfo(error, 'result_not_json'));
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

function failed(unit: Judged, item: WorkItem, error: ErrorInfo): boolean {
  const { clock, random } = unit.deps;
  const next = afterFailure(item.history, unit.plan, clock.now(), random());
  if (next.kind === 'exhausted') return fail(unit, item, error, next.attempts);
  unit.buffer.park(item.index, 'retry', next.due, next.history, error);
  return true;
}

function timedOut(unit: Judged, item: WorkItem, ending: Ending): boolean {
  const reject = 'error' in ending ? findReject(ending.error) : undefined;
  if (reject) return fail(unit, item, toErrorInfo(reject, reject.code));
  return failed(unit, item, {
    code: 'item_timeout',
    message: `the attempt did not end within ${unit.plan.itemTimeoutMs} ms`,
  });
}

function deferred(unit: Judged, item: WorkItem, defer: NonNullable<ReturnType<typeof findDefer>>): boolean {
  const now = unit.deps.clock.now();
  const delay = 'until' in defer.when ? defer.when.until.getTime() - now : defer.when.after;
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
