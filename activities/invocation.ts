import { ABANDON_AFTER_MS, type Log } from './deps';

export type StopReason = 'timeout' | 'cancel' | 'shutdown' | 'superseded';

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
      }[why],
    );
  }
}

/** How a call of payload code ended. `abandoned`: it did not react, and its promise is no longer waited for. */
export type Ending = { readonly value: unknown } | { readonly error: unknown } | { readonly abandoned: StopReason };

type Hook = () => void | Promise<void>;

/**
 * One call of payload code: its signal, its deadline, its hooks. A payload that is told to stop and does not react is
 * abandoned: its slot is freed, its Context is revoked, and `left` tells when it really ended.
 */
export class Invocation {
  private controller: AbortController | undefined;
  private told: StopReason | undefined;
  private abandonAt = Infinity;
  private readonly cancelHooks: Hook[] = [];
  private readonly cleanupHooks: Hook[] = [];
  private abandon: ((why: StopReason) => void) | undefined;
  /** ms since the epoch. */
  deadline = Infinity;
  /** A revoked Context does nothing. */
  revoked = false;

  constructor(private readonly log: Log) {}

  /** Made when first asked for: most payloads that take no time never ask. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.told && !this.controller.signal.aborted) this.controller.abort(new Stopped(this.told));
    return this.controller.signal;
  }

  get stopReason(): StopReason | undefined {
    return this.told;
  }

  onCancel(hook: Hook): void {
    if (this.told === 'cancel') void this.call(hook);
    else this.cancelHooks.push(hook);
  }

  cleanup(hook: Hook): void {
    this.cleanupHooks.push(hook);
  }

  /** Tells the payload to stop; the first reason counts. */
  tell(why: StopReason, now: number): void {
    if (this.told) return;
    this.told = why;
    // A cancelled payload may finish, up to its deadline. For the others there is no point in waiting.
    if (why !== 'cancel') this.abandonAt = now + ABANDON_AFTER_MS;
    this.controller?.abort(new Stopped(why));
    if (why === 'cancel') for (const hook of this.cancelHooks.splice(0)) void this.call(hook);
  }

  /** Called now and then: holds the call to its deadline. */
  tick(now: number): void {
    if (now >= this.deadline && this.abandonAt === Infinity) {
      this.tell('timeout', now);
      this.abandonAt = now + ABANDON_AFTER_MS;
    }
    if (now >= this.abandonAt) this.abandon?.(this.told === 'cancel' ? 'timeout' : (this.told ?? 'timeout'));
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
    } catch (error) {
      return this.end({ error });
    }
    if (!isThenable(returned)) return this.end({ value: returned });
    const call = Promise.resolve(returned);
    return new Promise<Ending>((resolve) => {
      this.abandon = (abandoned) => {
        left(call.catch(() => undefined));
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

  private async cleanUp(): Promise<void> {
    for (const hook of this.cleanupHooks.splice(0).reverse()) await this.call(hook);
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

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
