import { findDefer, type Checked, type Wait } from '../contract';
import { checkDue } from '../model/checks';
import { toIssues, type ErrorInfo } from '../model/error-info';
import { fromIndexes, type IndexSet } from '../model/index-set';
import type { OpenWait } from '../store';
import type { Attended } from './attend';
import { MAX_RESULT_BYTES } from './deps';
import { delayOf, isError, readable } from './disposition';
import { Stopped, type StopReason } from './invocation';
import type { Admitted } from './admitted';
import { askVendor, cancelAtVendor, chunksOf, forEachChunk, type Chunk } from './vendor-requests';

/**
 * A unit of waits: asks the vendor about many remote ids at once, on whichever worker it came to, without entering the
 * payload's `run`. What is pending is parked again, what is answered goes on, what failed has its outcome.
 */
export class CheckRun implements Attended {
  readonly job;
  readonly buffer;
  /** Waits of which something was learnt. */
  checked = 0;
  private readonly found: number[] = [];
  private readonly chunks: Chunk[];
  private readonly unknown: number[] = [];
  private readonly stopped = new AbortController();
  private idle = false;

  constructor(
    private readonly admitted: Admitted,
    waits: readonly OpenWait[],
  ) {
    this.job = admitted.job;
    this.buffer = admitted.buffer;
    this.chunks = chunksOf(admitted.payload, waits);
    // A release of the payload without the wait: nobody here can ask.
    for (const open of waits.filter(({ wait }) => !admitted.payload.waits.has(wait))) {
      this.failed(open, { code: 'wait_not_declared', message: `no wait ${open.wait} is declared any more` });
    }
  }

  /** Items whose wait was answered: they are to be sent to go on. */
  get answered(): IndexSet {
    return fromIndexes(this.found);
  }

  /** Items that are to be checked still. */
  get unchecked(): IndexSet {
    return fromIndexes([...this.unknown, ...this.chunks.flatMap(([, waits]) => waits.map((wait) => wait.index))]);
  }

  run(): Promise<void> {
    return forEachChunk(
      () => (this.idle ? undefined : this.chunks.shift()),
      (wait, waits) => this.check(wait, waits),
    );
  }

  halt(why: StopReason, tellRunning: boolean): void {
    this.idle = true;
    if (tellRunning) this.stopped.abort(new Stopped(why));
  }

  spendBudget(): void {
    this.idle = true;
  }

  tick(): void {
    if (this.buffer.refused) this.halt('superseded', true);
    if (this.buffer.failure) this.halt('store', true);
  }

  private async check(wait: Wait, waits: readonly OpenWait[]): Promise<void> {
    const ids = waits.map((open) => open.remoteId);
    const asked = await askVendor(this.admitted, this.stopped.signal, (context) => wait.spec.check(ids, context));
    if (this.stopped.signal.aborted) return void this.unknown.push(...waits.map((open) => open.index));
    this.checked += waits.length;
    if ('error' in asked) return this.unanswered(wait, waits, asked.error);
    const pending: OpenWait[] = [];
    const missing: OpenWait[] = [];
    for (const open of waits) {
      const said = this.judge(wait, open, asked.value);
      if (said === 'missing') missing.push(open);
      else if (said === 'pending') pending.push(open);
    }
    await this.again(wait, pending, undefined);
    await this.again(wait, missing, {
      code: 'wait_unknown_id',
      message: `the vendor of ${wait.name} does not know the remote id`,
    });
  }

  /** What the vendor said of one wait. Schemas and what a check returns are the payload's, and may throw when looked at. */
  private judge(wait: Wait, open: OpenWait, answers: unknown): 'missing' | 'pending' | 'over' {
    try {
      const state = stateOf(answers, open.remoteId);
      if (state === undefined) return 'missing';
      if (state.state === 'ready') this.answer(wait, open, state.answer);
      else if (state.state === 'expired') this.failed(open, expired(wait, open, state.reason));
      else return 'pending';
    } catch (error) {
      this.failed(open, remark(readable(error, 'wait_answer_invalid'), open));
    }
    return 'over';
  }

  /** The vendor did not answer: a bad minute of it is not to fail what waits, up to a limit. */
  private async unanswered(wait: Wait, waits: readonly OpenWait[], error: unknown): Promise<void> {
    const defer = findDefer(error);
    if (!defer) {
      this.admitted.log.warn({ err: error, wait: wait.name, ids: waits.length }, 'a check failed');
      return this.again(wait, waits, readable(error, 'wait_check_failed'));
    }
    const { clock } = this.admitted.deps;
    const delay = delayOf(defer, clock.now());
    const due = Math.max(
      checkDue(clock.now(), 0, wait.every, this.job.no),
      clock.now() + (Number.isFinite(delay) ? delay : 0),
    );
    const { late, rest } = this.overdue(wait, waits);
    await this.giveUp(wait, late);
    if (rest.length > 0) this.buffer.stillPending(indexesOf(rest), due, false);
  }

  /** To be asked about again, unless they waited too long or were not answered too often. */
  private async again(wait: Wait, waits: readonly OpenWait[], why: ErrorInfo | undefined): Promise<void> {
    const { late, rest } = this.overdue(wait, waits);
    await this.giveUp(wait, late);
    const { clock } = this.admitted.deps;
    const groups = new Map<number, OpenWait[]>();
    for (const open of rest) {
      if (why && open.errors + 1 > wait.tolerate) this.failed(open, remark(why, open));
      else {
        const group = groups.get(open.checks);
        if (group) group.push(open);
        else groups.set(open.checks, [open]);
      }
    }
    // One due time for all that were asked about together, so that they are together the next time.
    for (const [checks, group] of groups) {
      this.buffer.stillPending(
        indexesOf(group),
        checkDue(clock.now(), checks + 1, wait.every, this.job.no),
        why !== undefined,
      );
    }
  }

  private overdue(wait: Wait, waits: readonly OpenWait[]): { late: OpenWait[]; rest: OpenWait[] } {
    const now = this.admitted.deps.clock.now();
    const isLate = (open: OpenWait): boolean => now - open.since >= wait.maxWaitMs;
    return { late: waits.filter(isLate), rest: waits.filter((open) => !isLate(open)) };
  }

  private async giveUp(wait: Wait, late: readonly OpenWait[]): Promise<void> {
    if (late.length === 0) return;
    await cancelAtVendor(this.admitted, wait, late);
    for (const open of late) {
      const message = `${wait.name} was not answered within ${wait.maxWaitMs} ms`;
      this.failed(open, remark({ code: 'wait_timeout', message }, open));
    }
  }

  private answer(wait: Wait, open: OpenWait, answer: unknown): void {
    const parsed = wait.spec.answer.safeParse(answer);
    if (!parsed.success) {
      const what = `the answer to ${wait.name} does not fit its schema`;
      return this.refused(open, toIssues('wait_answer_invalid', what, parsed.error.issues));
    }
    // What `resume` is given has gone through JSON, so that it is the same whether or not it was read back.
    const text = JSON.stringify(answer) as string | undefined;
    if (text === undefined) throw new TypeError(`the answer to ${wait.name} is no JSON`);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_RESULT_BYTES) {
      const message = `the answer is ${bytes} bytes of JSON, over the limit of ${MAX_RESULT_BYTES}`;
      return this.refused(open, { code: 'wait_answer_too_large', message });
    }
    this.found.push(open.index);
    this.buffer.answer(open.index, answer, bytes);
  }

  /** The vendor has answered, and the answer will not do. */
  private refused(open: OpenWait, error: ErrorInfo): void {
    const body = { error, remoteId: open.remoteId };
    this.buffer.settle(open.index, 'failed', open.history.attempts + 1, body, error.message.length);
  }

  /** No answer is to be had: a dead letter. */
  private failed(open: OpenWait, error: ErrorInfo): void {
    this.buffer.giveUp(open.index, open.history.attempts + 1, { error, remoteId: open.remoteId });
  }
}

/** What the vendor says of one id; undefined when it does not know it. What a check returns may be anything. */
function stateOf(answers: unknown, remoteId: string): Checked | undefined {
  if (typeof answers !== 'object' || answers === null || !Object.hasOwn(answers, remoteId)) return undefined;
  const state = (answers as Record<string, unknown>)[remoteId];
  return isError(state) || typeof state !== 'object' || state === null ? undefined : (state as Checked);
}

function expired(wait: Wait, open: OpenWait, reason: unknown): ErrorInfo {
  const why = reason === undefined ? '' : `: ${readable(reason).message}`;
  const message = `${wait.name} has expired at the vendor${why}`;
  return remark({ code: 'wait_expired', message }, open);
}

function remark(error: ErrorInfo, open: OpenWait): ErrorInfo {
  return { ...error, message: `${error.message} (remote id ${open.remoteId})` };
}

function indexesOf(waits: readonly OpenWait[]): IndexSet {
  return fromIndexes(waits.map((open) => open.index));
}
