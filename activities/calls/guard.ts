import { CALL_GRACE_MS, VENDOR_CANCEL_MS } from '../deps';

type Stop = (signal: AbortSignal) => Promise<void>;

/** One paid call under way: its signal, and how the vendor is asked to stop it. */
class OpenCall extends AbortController {
  constructor(readonly stop: Stop | undefined) {
    super();
  }
}

/** The paid calls under way in one attempt, and how long a cancel waits for their answers. */
export class CallGuard {
  private readonly open = new Set<OpenCall>();
  private cancelledAt: number | undefined;

  get busy(): boolean {
    return this.open.size > 0;
  }

  enter(stop: Stop | undefined): OpenCall {
    const call = new OpenCall(stop);
    this.open.add(call);
    return call;
  }

  leave(call: OpenCall): void {
    this.open.delete(call);
  }

  /** The job was cancelled: what is paid for may still answer, for a grace. */
  cancelled(now: number): void {
    this.cancelledAt ??= now;
  }

  /** No answer is waited for. */
  stop(reason: unknown): void {
    for (const call of this.open) call.abort(reason);
  }

  /** Called now and then: a cancelled call whose grace is over is stopped, at the vendor first. */
  tick(now: number, reason: () => unknown): void {
    if (this.cancelledAt === undefined || now - this.cancelledAt < CALL_GRACE_MS) return;
    for (const call of [...this.open]) {
      if (call.signal.aborted) continue;
      // The request to stop has a signal of its own: that of the call is about to be aborted.
      if (call.stop) void call.stop(AbortSignal.timeout(VENDOR_CANCEL_MS));
      call.abort(reason());
    }
  }
}
