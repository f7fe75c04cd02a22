/** What a paid call is told of itself. */
export interface CallInfo {
  /**
   * The idempotency key of this call: the same on every try, delivery and replay of the item, and in a job that
   * retries it. Hand it to the vendor.
   */
  readonly key: string;
  /**
   * Aborted when the answer is not waited for any longer. A cancel of the job does not abort it at once: an answer that
   * is paid for is not thrown away.
   */
  readonly signal: AbortSignal;
}

/**
 * What the vendor says of a call whose answer was lost. `done`: it took place, with this result. `absent`: it did not,
 * and may be sent again. `unknown`: nobody can tell; a person has to look, at `remoteId` if there is one.
 */
export type Reconciled<Result> =
  | { readonly state: 'done'; readonly result: Result }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown'; readonly remoteId?: string };

export interface CallOptions<Result = unknown> {
  /**
   * What the call is about, as JSON. The same name with other arguments, in this attempt or a later one, is an error
   * of the payload: its journaled result would be the answer to another question.
   */
  readonly args?: unknown;
  /** The vendor takes the key and does nothing twice: a call whose answer was lost is sent again. */
  readonly idempotent?: boolean;
  /** Asks the vendor what became of a call whose answer was lost. */
  reconcile?(call: CallInfo): Promise<Reconciled<Result>> | Reconciled<Result>;
  /** Asks the vendor to stop, when the job is cancelled and the answer does not come in time. Best effort. */
  cancel?(call: CallInfo): Promise<void> | void;
}

/** A vendor, by the name under which its calls are journaled. */
export interface Vendor {
  /**
   * Makes a paid call at most once. An intent is stored before it and its result after it; where the result is already
   * there, from whichever attempt, it is returned and `send` is not called. Results are JSON, at most 1 MB.
   *
   * If the answer was lost (the worker died, `send` threw), the next attempt asks `reconcile`, or sends again under the
   * same key if the call is `idempotent`; with neither, the item ends as needs_review (`unknown_charge`). Throw
   * `Declined`, `Reject` or `Defer` from `send` where the vendor's answer says that nothing was done.
   *
   * @param name tells the calls of an item apart; used once in an attempt.
   */
  call<Result>(
    name: string,
    send: (call: CallInfo) => Promise<Result> | Result,
    options?: CallOptions<Result>,
  ): Promise<Result>;
}

export interface OnceOptions {
  /** As in `CallOptions`. */
  readonly args?: unknown;
}
