import type { UnknownCharge } from './calls/errors';
import { CallGuard } from './calls/guard';
import { ABANDON_AFTER_MS, CANCEL_GRACE_MS, CLEANUP_MS, type Log } from './deps';

export type StopReason = 'timeout' | 'cancel' | 'shutdown' | 'superseded' | 'store';

/** The reason that a payload's signal carries. */
export class Stopped extends Error {
  override readonly name = 'Stopped';

  constructor(readonly why: StopReason) {
    super(
      {
        timeout: 'the attempt ran out of time',
        cancel: 'the job is being cancelled',
        shutdown: 'the worker is shutting down',
        superseded: 'another worker has taken this work over',
        store: 'the store does not take what comes of this work',
      }[why],
    );
  }
}

/** How a call of payload code ended. `abandoned`: it did not react, and its promise is no longer waited for. */
export type Ending = { readonly value: unknown } | { readonly error: unknown } | { readonly abandoned: StopReason };

/** An attempt that runs out of time while it has waited this long for the store did not fail: the store did, ms. */
const STORE_SLOW_MS = 1_000;

type Hook = () => void | Promise<void>;

/**
 * One call of payload code: its signal, its deadline, its hooks. A payload that is told to stop and does not react is
 * abandoned: its slot is freed, its Context is revoked, and `left` tells when it really ended.
 */
export class Invocation {
  private controller: AbortController | undefined;
  private told: StopReason | undefined;
  /** When, and for which reason, it is abandoned. */
  private leaving: { readonly why: StopReason; readonly at: number } | undefined;
  private readonly cancelHooks: Hook[] = [];
  private readonly cleanupHooks: Hook[] = [];
  private abandon: ((why: StopReason) => void) | undefined;
  private cleanUpBy: number | undefined;
  private leaveHooks: (() => void) | undefined;
  /** ms since the epoch. */
  deadline = Infinity;
  /** A revoked Context does nothing. */
  revoked = false;
  /** Something was achieved that a later attempt does not have to do again. */
  progressed = false;
  /** Since when calls of this attempt wait for the store. */
  private readonly storeWaits = new Set<{ readonly since: number }>();
  /** Paid calls of this attempt that were sent and whose answer is not known, by name. */
  private readonly charges = new Map<string, UnknownCharge>();
  private marked: { readonly error: unknown } | undefined;
  /** Most attempts make no calls. */
  private calls: CallGuard | undefined;
  private cancelledAt: number | undefined;

  constructor(private readonly log: Log) {}

  /** Made when first asked for: most payloads that take no time never ask. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.told && !this.holdsBack) this.abort(this.told);
    return this.controller.signal;
  }

  /** Whether the news of a cancel waits for the answer to a paid call. */
  private get holdsBack(): boolean {
    return this.told === 'cancel' && this.calls?.busy === true;
  }

  private abort(why: StopReason): void {
    if (this.controller && !this.controller.signal.aborted) this.controller.abort(new Stopped(why));
  }

  /** The attempt ends with this error, whatever the payload catches or returns; the first one counts. */
  mark(error: unknown): void {
    this.marked ??= { error };
  }

  /** Another batch begins, with nothing behind it. */
  renew(): void {
    this.marked = undefined;
    this.charges.clear();
    this.progressed = false;
  }

  /** Waits for the store, whose slowness is not the item's: see `tick`. */
  async duringStore<T>(work: Promise<T>, now: () => number): Promise<T> {
    const wait = { since: now() };
    this.storeWaits.add(wait);
    try {
      return await work;
    } finally {
      this.storeWaits.delete(wait);
    }
  }

  private waitsForStore(now: number): boolean {
    for (const { since } of this.storeWaits) if (now - since >= STORE_SLOW_MS) return true;
    return false;
  }

  /** Whether an error of the runner's own kind ends the attempt. */
  markedAs(kind: abstract new (...args: never[]) => Error): boolean {
    return this.marked?.error instanceof kind;
  }

  /** How the attempt ended, when the payload's own ending is this. */
  verdict(ending: Ending): Ending {
    return 'abandoned' in ending ? ending : (this.marked ?? ending);
  }

  /** A paid call is about to be sent, or its answer was lost. */
  charged(charge: UnknownCharge): void {
    this.charges.set(charge.unsettled.call, charge);
  }

  /** What came of a call is known. */
  settledCall(call: string): void {
    this.charges.delete(call);
  }

  /** A paid call of which it is not known what came. */
  get openCharge(): UnknownCharge | undefined {
    return this.charges.values().next().value;
  }

  /** Makes a call whose answer is paid for: a cancel waits for it, for a while, and then has the vendor asked to stop. */
  async during<T>(
    stop: ((signal: AbortSignal) => Promise<void>) | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const calls = (this.calls ??= new CallGuard());
    if (this.cancelledAt !== undefined) calls.cancelled(this.cancelledAt);
    const call = calls.enter(stop);
    if (this.told && this.told !== 'cancel') call.abort(new Stopped(this.told));
    try {
      return await work(call.signal);
    } finally {
      calls.leave(call);
      if (this.told && !this.holdsBack) this.abort(this.told);
    }
  }

  get stopReason(): StopReason | undefined {
    return this.told;
  }

  onCancel(hook: Hook): void {
    if (this.revoked) return;
    if (this.told === 'cancel') void this.call(hook);
    else this.cancelHooks.push(hook);
  }

  cleanup(hook: Hook): void {
    this.cleanupHooks.push(hook);
  }

  /** Tells the payload to stop; the first reason counts. A call that has ended is told nothing. */
  tell(why: StopReason, now: number): void {
    if (this.revoked) return;
    // A cancelled payload may finish, for a while. For the others there is no point in waiting.
    const at = now + (why === 'cancel' ? CANCEL_GRACE_MS : ABANDON_AFTER_MS);
    if (!this.leaving || at < this.leaving.at) this.leaving = { why, at };
    if (why === 'cancel') {
      this.cancelledAt ??= now;
      this.calls?.cancelled(this.cancelledAt);
    } else this.calls?.stop(new Stopped(why));
    if (this.told) {
      if (why !== 'cancel') this.abort(why);
      return;
    }
    this.told = why;
    if (!this.holdsBack) this.abort(why);
    if (why === 'cancel') for (const hook of this.cancelHooks.splice(0)) void this.call(hook);
  }

  /** Called now and then: holds the call to its deadline, and its hooks to theirs. */
  tick(now: number): void {
    if (this.leaveHooks) {
      this.cleanUpBy ??= now + CLEANUP_MS;
      if (now >= this.cleanUpBy) this.leaveHooks();
      return;
    }
    if (now >= this.deadline) this.tell(this.waitsForStore(now) ? 'store' : 'timeout', now);
    this.calls?.tick(now, () => new Stopped('cancel'));
    if (this.leaving && now >= this.leaving.at) this.abandon?.(this.leaving.why);
  }

  /**
   * Calls payload code and waits until it ends or is abandoned. Never throws. What a payload returns at once is
   * answered at once: a promise for each of a thousand quick items would cost more than they do.
   * @param left is given the promise of an abandoned call.
   */
  run(code: () => unknown, left: (end: Promise<unknown>) => void): Ending | Promise<Ending> {
    let returned: unknown;
    try {
      returned = code();
      if (!isThenable(returned)) return this.end({ value: returned });
    } catch (error) {
      return this.end({ error });
    }
    const call = Promise.resolve(returned);
    return new Promise<Ending>((resolve) => {
      this.abandon = (abandoned) => {
        const end = call.catch(() => undefined);
        left(end);
        // What it asks to have cleaned up from now on can wait for its real end.
        void end.then(() => this.runCleanupHooks());
        resolve(this.end({ abandoned }));
      };
      call.then(
        (value) => resolve(this.end({ value })),
        (error: unknown) => resolve(this.end({ error })),
      );
    });
  }

  /** The first ending counts: the Context is revoked, and what the payload wanted cleaned up is. */
  private end(ending: Ending): Ending | Promise<Ending> {
    this.abandon = undefined;
    if (this.revoked) return ending;
    this.revoked = true;
    return this.cleanupHooks.length === 0 ? ending : this.cleanUp().then(() => ending);
  }

  /** Nobody waits for ever for a hook: it would hold its slot, and the unit. */
  private async cleanUp(): Promise<void> {
    const left = new Promise<void>((resolve) => {
      this.leaveHooks = () => {
        this.log.warn({ ms: CLEANUP_MS }, 'a cleanup hook of the payload is not waited for any longer');
        resolve();
      };
    });
    await Promise.race([this.runCleanupHooks(), left]);
    this.leaveHooks = undefined;
  }

  private async runCleanupHooks(): Promise<void> {
    for (let hook = this.cleanupHooks.pop(); hook; hook = this.cleanupHooks.pop()) await this.call(hook);
  }

  /** Runs a payload's hook; a hook that fails is the payload's affair and ends nothing. */
  private async call(hook: Hook): Promise<void> {
    try {
      await hook();
    } catch (error) {
      this.log.warn({ err: error }, 'a hook of the payload failed');
    }
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
