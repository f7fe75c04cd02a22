import { Reject, findDefer, findReject, isDeclined, type CallInfo, type Reconciled } from '../../contract';
import type { IntentWrite, JournalEntry, JournalKey, JournalWrite, Look } from '../../store';
import { MAX_RESULT_BYTES, type ActivityDeps } from '../deps';
import { Stopped, type Invocation } from '../invocation';
import { CeilingFull, UnknownCharge } from './errors';
import type { JournalWriter } from './journal-writer';
import { argsHash, callKey } from './keys';

/** One journaled call, whichever verb it came from. */
export interface CallSpec {
  readonly kind: IntentWrite['kind'];
  readonly vendor: string | null;
  /** Its name in the journal. */
  readonly call: string;
  readonly args: unknown;
  readonly idempotent: boolean;
  send(info: CallInfo): unknown;
  readonly reconcile?: ((info: CallInfo) => Promise<Reconciled<unknown>> | Reconciled<unknown>) | undefined;
  readonly cancel?: ((info: CallInfo) => Promise<void> | void) | undefined;
  readonly wait?: IntentWrite['wait'];
}

/** What the calls of one attempt stand on. */
export interface Caller {
  readonly deps: Pick<ActivityDeps, 'store' | 'newId' | 'clock'>;
  readonly journal: JournalWriter;
  readonly rootNo: number;
  readonly fence: IntentWrite['fence'];
  /** A cancelled job's calls are looked up and reconciled; no new one is made. */
  readonly settling: boolean;
  /** Told how the request to stop a call ended. */
  vendorCancelled(ok: boolean): void;
}

/**
 * The calls of one attempt, or of one batch: an intent is stored before each and its result after it, so that each is
 * made at most once however often the item runs.
 */
export class Calls {
  private readonly made = new Map<string, { readonly hash: string | null; readonly result: Promise<unknown> }>();

  constructor(
    private readonly caller: Caller,
    private readonly invocation: Invocation,
    private readonly subject: string,
    private readonly members?: IntentWrite['members'],
  ) {}

  /**
   * Makes the call, or returns the result that it had.
   * @throws what `send` throws; or, where the runner has to end the attempt, an error that ends it whatever the payload
   * makes of it.
   */
  perform(spec: CallSpec): Promise<unknown> {
    const { invocation } = this;
    if (invocation.revoked) return Promise.reject(new Stopped(invocation.stopReason ?? 'superseded'));
    const hash = argsHash(spec.args);
    const before = this.made.get(spec.call);
    // A name stands for one call: used for something else, its result would answer another question.
    if (before) {
      const same = hash !== null && before.hash === hash;
      return same ? before.result : Promise.reject(this.ended(misuse(spec, 'is used twice in one attempt')));
    }
    const result = this.make(spec, hash);
    this.made.set(spec.call, { hash, result });
    return result;
  }

  private make(spec: CallSpec, hash: string | null): Promise<unknown> {
    return this.invocation.during(spec.cancel && this.stopper(spec), async (signal) => {
      const token = this.caller.deps.newId();
      const entry = await this.intend(spec, token, hash, false);
      if (!entry) return this.send(spec, signal, token);
      if (entry.argsHash !== hash) throw this.ended(misuse(spec, 'had other arguments in an earlier attempt'));
      if (entry.state === 'done') return entry.result;
      return this.resolve(spec, signal, hash, entry);
    });
  }

  /** Stores the intent; what the journal has of the call if it was made before. */
  private async intend(
    spec: CallSpec,
    token: string,
    hash: string | null,
    renew: boolean,
  ): Promise<JournalEntry | undefined> {
    const { caller } = this;
    const key = this.journalKey(spec);
    const intent: IntentWrite = {
      ...key,
      type: 'intent',
      fence: caller.fence,
      token,
      kind: spec.kind,
      vendor: spec.vendor,
      key: this.key(spec),
      argsHash: hash,
      renew,
      ...(this.members && { members: this.members }),
      ...(spec.wait && { wait: spec.wait }),
    };
    const answer = await this.write(caller.settling ? { ...key, type: 'look' } : intent);
    switch (answer.is) {
      case 'known':
        return answer.entry;
      case 'stored':
        return undefined;
      case 'full':
        throw this.ended(new CeilingFull(spec.wait?.name ?? spec.call));
      case 'refused':
        throw this.ended(new Stopped('superseded'));
      case 'absent':
        throw this.ended(new Stopped('cancel'));
    }
  }

  private journal(write: JournalWrite): ReturnType<JournalWriter['write']> {
    const { deps, journal } = this.caller;
    return this.invocation.duringStore(journal.write(write), () => deps.clock.now());
  }

  /** What the store does not take ends the attempt, and is no failure of the item. */
  private async write(write: IntentWrite | Look): ReturnType<JournalWriter['write']> {
    try {
      return await this.journal(write);
    } catch {
      throw this.ended(new Stopped('store'));
    }
  }

  private async send(spec: CallSpec, signal: AbortSignal, token: string, again = false): Promise<unknown> {
    const { invocation } = this;
    // The attempt was broken off while the store was slow: its item may have an outcome by now.
    if (signal.aborted || invocation.revoked) {
      // An intent that took the place of an earlier one stands for that one too, and is looked into by the next attempt.
      if (!again) await this.record({ type: 'withdrawn', token }, spec);
      throw this.ended(new Stopped(invocation.stopReason ?? 'superseded'));
    }
    // From here on: an attempt that is left behind during the call has no error to tell of it.
    if (spec.kind !== 'once' && !spec.idempotent) invocation.charged(this.unknown(spec));
    let result: unknown;
    try {
      result = await spec.send({ key: this.key(spec), signal });
    } catch (error) {
      if (isDeclined(error) || findReject(error) || findDefer(error)) {
        invocation.settledCall(spec.call);
        await this.record({ type: 'withdrawn', token }, spec);
      }
      throw error;
    }
    return this.keep(spec, result);
  }

  /** Journals a result; the caller gets what a later attempt would get. */
  private async keep(spec: CallSpec, result: unknown): Promise<unknown> {
    this.invocation.settledCall(spec.call);
    const text = toJson(result);
    if (text === undefined) {
      await this.record({ type: 'unknown', remoteId: null }, spec);
      throw this.ended(misuse(spec, `has a result that is not JSON, or over ${MAX_RESULT_BYTES} bytes of it`));
    }
    const plain: unknown = JSON.parse(text);
    await this.record({ type: 'result', result: plain }, spec);
    this.invocation.progressed = true;
    return plain;
  }

  /** The answer of an earlier try was lost. */
  private async resolve(
    spec: CallSpec,
    signal: AbortSignal,
    hash: string | null,
    entry: JournalEntry,
  ): Promise<unknown> {
    const { settling } = this.caller;
    if (spec.reconcile) {
      const found = await this.reconcile(spec, signal, spec.reconcile);
      if (found.state === 'done') return this.keep(spec, found.result);
      if (found.state !== 'absent') {
        const remoteId = found.remoteId ?? entry.remoteId;
        await this.record({ type: 'unknown', remoteId }, spec);
        throw this.ended(this.unknown(spec, remoteId));
      }
      if (settling) await this.record({ type: 'withdrawn', token: null }, spec);
    } else if (!spec.idempotent && spec.kind !== 'once') {
      throw this.ended(this.unknown(spec, entry.remoteId));
    }
    // A cancelled job sends nothing, not even again.
    if (settling) throw this.ended(new Stopped('cancel'));
    const token = this.caller.deps.newId();
    const known = await this.intend(spec, token, hash, true);
    // Its first try has answered after all.
    return known ? known.result : this.send(spec, signal, token, true);
  }

  /** Asking is not charged: a vendor that does not answer is a failure of the attempt like any other. */
  private async reconcile(
    spec: CallSpec,
    signal: AbortSignal,
    reconcile: NonNullable<CallSpec['reconcile']>,
  ): Promise<Reconciled<unknown>> {
    try {
      return await reconcile({ key: this.key(spec), signal });
    } catch (error) {
      if (!spec.idempotent) this.invocation.charged(this.unknown(spec));
      throw this.ended(error);
    }
  }

  /** Facts are written whoever has taken over. The attempt ends if they cannot be, as its result would not be stored either. */
  private async record(
    fact:
      | { type: 'result'; result: unknown }
      | { type: 'withdrawn'; token: string | null }
      | { type: 'unknown'; remoteId: string | null },
    spec: CallSpec,
  ): Promise<void> {
    try {
      await this.journal({ ...this.journalKey(spec), ...fact });
    } catch {
      throw this.ended(new Stopped('store'));
    }
  }

  /** Asks the vendor to stop a call that is not waited for any longer. */
  private stopper(spec: CallSpec): (signal: AbortSignal) => Promise<void> {
    return async (signal) => {
      let ok = true;
      try {
        await spec.cancel!({ key: this.key(spec), signal });
      } catch {
        ok = false;
      }
      this.caller.vendorCancelled(ok);
    };
  }

  private unknown(spec: CallSpec, remoteId: string | null = null): UnknownCharge {
    return new UnknownCharge({ call: spec.call, vendor: spec.vendor, key: this.key(spec) }, remoteId);
  }

  /** Ends the attempt with this error, whatever the payload catches or returns. */
  private ended<E>(error: E): E {
    this.invocation.mark(error);
    return error;
  }

  private journalKey(spec: CallSpec): JournalKey {
    return { rootNo: this.caller.rootNo, subject: this.subject, call: spec.call };
  }

  private key(spec: CallSpec): string {
    return callKey({ storeId: this.caller.deps.store.id, ...this.journalKey(spec) });
  }
}

function misuse(spec: CallSpec, what: string): Reject {
  const remedy = 'each call of an item has a name of its own, and the same args every time';
  return new Reject(`the call ${JSON.stringify(spec.call)} ${what}: ${remedy}`, { code: 'call_misused' });
}

/** A result as JSON text; undefined when it is none, or too large. */
function toJson(result: unknown): string | undefined {
  try {
    const text = JSON.stringify(result ?? null) as string | undefined;
    return text !== undefined && Buffer.byteLength(text) <= MAX_RESULT_BYTES ? text : undefined;
  } catch {
    return undefined;
  }
}
