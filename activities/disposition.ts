import { types } from 'node:util';
import { findDefer, findReject, isReview, isWaiting, type Defer, type Payload, type Reject } from '../contract';
import { FRESH, afterDeferral, afterFailure, afterReturn } from '../model/attempts';
import { toErrorInfo, toIssues, type ErrorInfo } from '../model/error-info';
import type { Plan } from '../model/plan';
import { UNKNOWN_CHARGE } from '../model/reasons';
import type { JobRecord, OutcomeBody } from '../store';
import { CeilingFull, UnknownCharge } from './calls/errors';
import { WaitStarted } from './context/wait';
import { MAX_RESULT_BYTES, type ActivityDeps } from './deps';
import { Stopped, type Ending, type Invocation } from './invocation';
import type { WorkItem } from './item-source';
import type { UnitBuffer } from './unit-buffer';

/** An item as an attempt of it is judged. */
export interface Judged {
  readonly deps: Pick<ActivityDeps, 'clock' | 'random'>;
  readonly job: Pick<JobRecord, 'items'>;
  readonly payload: Payload;
  readonly plan: Plan;
  readonly buffer: UnitBuffer;
}

/**
 * Records what an attempt of `item` led to: an outcome, a parking, or nothing at all. Never throws, though judging
 * reads what the payload gave: its schema, its getters may.
 * @returns false when it led to nothing: the item is to be handed back, and no attempt is counted.
 */
export function dispose(unit: Judged, item: WorkItem, ending: Ending, attempt: Told): boolean {
  const told = attempt.stopReason;
  try {
    return judge(unit, item, ending, attempt);
  } catch (error) {
    if ('value' in ending) return fail(unit, item, readable(error, 'result_invalid'));
    if (told !== undefined && told !== 'timeout') return false;
    return failed(unit, item, readable('error' in ending ? ending.error : error), attempt);
  }
}

/** What the runner knows of the attempt beside its ending. */
type Told = Pick<Invocation, 'stopReason' | 'openCharge'>;

function judge(unit: Judged, item: WorkItem, ending: Ending, attempt: Told): boolean {
  const told = attempt.stopReason;
  if ('value' in ending) return answered(unit, item, ending.value, attempt);
  if ('abandoned' in ending && ending.abandoned !== 'timeout') return false;
  if ('error' in ending && ending.error instanceof UnknownCharge) return chargeUnknown(unit, item, ending.error);
  if ('error' in ending && ending.error instanceof CeilingFull) return false;
  if ('abandoned' in ending || told === 'timeout') return timedOut(unit, item, ending, attempt);
  const reject = findReject(ending.error);
  if (reject) return rejected(unit, item, reject, attempt);
  // It was told to stop and did: whatever it threw says nothing about the item.
  if (told !== undefined || ending.error instanceof Stopped) return false;
  const defer = findDefer(ending.error);
  if (defer) return deferred(unit, item, defer);
  return failed(unit, item, toErrorInfo(ending.error), attempt);
}

/** A person has to find out: the item says with which key and remote id. */
function chargeUnknown(unit: Judged, item: WorkItem, { unsettled, remoteId }: UnknownCharge): boolean {
  const draft = { calls: [unsettled] };
  return end(unit, item, 'needs_review', {
    reason: UNKNOWN_CHARGE,
    draft,
    ...(remoteId !== null && { remoteId }),
  });
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
function answered(unit: Judged, item: WorkItem, value: unknown, attempt: Told): boolean {
  if (value instanceof WaitStarted) return waits(unit, item, value);
  if (isError(value)) return dispose(unit, item, { error: value }, attempt);
  if (isWaiting(value)) return fail(unit, item, WAITS_IN_BATCH);
  if (isReview(value)) {
    const { reason, draft } = value;
    return end(unit, item, 'needs_review', draft === undefined ? { reason } : { reason, draft });
  }
  const parsed = unit.payload.result.safeParse(value);
  if (!parsed.success) {
    if (attempt.openCharge) return chargeUnknown(unit, item, attempt.openCharge);
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

const WAITS_IN_BATCH = { code: 'wait_not_declared', message: 'an item of a batch cannot wait: use run' };

/** A wait started: no attempt has ended, and what failed before it is behind it. */
function waits(unit: Judged, item: WorkItem, { due }: WaitStarted): boolean {
  unit.buffer.park(item.index, 'wait', due, { ...FRESH, attempts: item.history.attempts }, null);
  return true;
}

/** The item fails for good, on this attempt. */
export function fail(unit: Judged, item: WorkItem, error: ErrorInfo, attempts = item.history.attempts + 1): boolean {
  unit.buffer.settle(item.index, 'failed', attempts, { error }, error.message.length + (error.stack?.length ?? 0));
  return true;
}

/** The runner gives the item up: no attempt, deferral or time is left to it. It is a dead letter. */
function giveUp(unit: Judged, item: WorkItem, error: ErrorInfo, attempts: number): boolean {
  unit.buffer.giveUp(item.index, attempts, { error });
  return true;
}

/** The code of a Reject is the payload's own, so it is held to what a code may be. */
function rejected(unit: Judged, item: WorkItem, reject: Reject, { openCharge }: Told): boolean {
  if (openCharge) return chargeUnknown(unit, item, openCharge);
  const info = toErrorInfo(reject);
  return fail(unit, item, info.code === 'error' ? { ...info, code: 'rejected' } : info);
}

function failed(unit: Judged, item: WorkItem, error: ErrorInfo, { openCharge }: Told): boolean {
  const { clock, random } = unit.deps;
  const next = afterFailure(item.history, unit.plan, clock.now(), random());
  if (next.kind === 'park') {
    unit.buffer.park(item.index, 'retry', next.due, next.history, error);
    return true;
  }
  // No attempt is left to find out in.
  if (openCharge) return chargeUnknown(unit, item, openCharge);
  return giveUp(unit, item, error, next.attempts);
}

function timedOut(unit: Judged, item: WorkItem, ending: Ending, attempt: Told): boolean {
  const reject = 'error' in ending ? findReject(ending.error) : undefined;
  if (reject) return rejected(unit, item, reject, attempt);
  const message = `the attempt did not end within ${unit.plan.itemTimeoutMs} ms`;
  return failed(unit, item, { code: 'item_timeout', message }, attempt);
}

function deferred(unit: Judged, item: WorkItem, defer: Defer): boolean {
  return postpone(unit, item, delayOf(defer, unit.deps.clock.now()), toErrorInfo(defer, 'deferred'));
}

/** What a deferral asks for, ms; NaN where that is no time: a payload in JavaScript may say anything here. */
export function delayOf(defer: Defer, now: number): number {
  const { until, after } = (defer.when ?? {}) as { until?: Date; after?: number };
  return until === undefined ? Number(after) : new Date(until).getTime() - now;
}

/** Parks the item without counting an attempt; at either ceiling it fails with a code of its own. */
export function postpone(unit: Judged, item: WorkItem, delayMs: number, why: ErrorInfo): boolean {
  const { clock, random } = unit.deps;
  const deferral = { delayMs, items: unit.job.items, random: random() };
  const next = afterDeferral(item.history, unit.plan, clock.now(), deferral);
  if (next.kind === 'park') {
    unit.buffer.park(item.index, 'defer', next.due, next.history, why);
    return true;
  }
  const { deferrals, deferredSince } = item.history;
  const [code, how] =
    next.kind === 'exhausted'
      ? ['deferral_limit', `${deferrals} times`]
      : ['deferral_timeout', `for ${clock.now() - (deferredSince ?? clock.now())} ms`];
  return giveUp(unit, item, { code, message: `deferred ${how}, the last time because: ${why.message}` }, next.attempts);
}

/**
 * A shutdown broke the attempt off: no attempt is counted, but not for ever.
 * @returns whether the item has ended with that.
 */
export function returned(unit: Judged, item: WorkItem, progressed: boolean): boolean {
  const next = afterReturn(item.history, progressed);
  if (next.kind === 'park') {
    unit.buffer.giveBack(item.index, next.history);
    return false;
  }
  const message = `its worker was shut down while it ran, ${item.history.returns + 1} times in a row, and it made no progress`;
  return giveUp(unit, item, { code: 'shutdown_limit', message }, next.attempts);
}
