/** The part of the store port that is about paid calls and waits. */
import type { IndexSet } from '../model/index-set';
import type { Fence, OpenWait } from './port';

/** Where a paid call, an effect or the start of a wait stands in the journal. */
export interface JournalKey {
  readonly rootNo: number;
  /** `i:` and the item's id, or `b:` and the hash of a batch's members. */
  readonly subject: string;
  /** The name of the call; that of a start is `wait:`, the wait's name, `#` and its ordinal. */
  readonly call: string;
}

export interface JournalEntry {
  /** `intent`: what came of it is not known. `unknown`: nor can the vendor tell. */
  readonly state: 'intent' | 'done' | 'unknown';
  /** The result; undefined unless `done`. */
  readonly result: unknown;
  readonly argsHash: string | null;
  readonly remoteId: string | null;
}

/** To be stored before a call is made; refused to a delivery that another one has taken over from. */
export interface IntentWrite extends JournalKey {
  readonly type: 'intent';
  readonly fence: Fence;
  /** Tells two tries of one call apart: an intent that is found with it is this one. */
  readonly token: string;
  /** `vendor` may cost something if it is made twice. */
  readonly kind: 'vendor' | 'once' | 'start';
  readonly vendor: string | null;
  /** The idempotency key that the vendor is given; shown to whoever has to ask the vendor. */
  readonly key: string;
  readonly argsHash: string | null;
  /** The earlier intent is known to have come to nothing, or may be sent twice: this one takes its place. */
  readonly renew: boolean;
  /** Of a batch: its members, which it keeps from now on. */
  readonly members?: IndexSet;
  /** Of a start: the item that waits, for what, and how many such waits of the capability may be open. */
  readonly wait?: {
    readonly index: number;
    readonly name: string;
    readonly ordinal: number;
    readonly capability: string;
    readonly maxOpen: number | null;
  };
}

/** A fact about a call whose intent is stored: taken from anyone, at any time, once. */
export interface ResultWrite extends JournalKey {
  readonly type: 'result';
  /** JSON; of a start, the remote id. */
  readonly result: unknown;
}
/** The vendor says that nothing was done: the call may be made as if it had never been. */
export interface WithdrawalWrite extends JournalKey {
  readonly type: 'withdrawn';
  /** Of the intent that is withdrawn; another one stands. Null: whichever it is. */
  readonly token: string | null;
}
/** The vendor cannot say what came of it. */
export interface UnknownWrite extends JournalKey {
  readonly type: 'unknown';
  readonly remoteId: string | null;
}
/** Nothing is written: where does the call stand? */
export interface Look extends JournalKey {
  readonly type: 'look';
}
export type JournalWrite = Look | IntentWrite | ResultWrite | WithdrawalWrite | UnknownWrite;

/**
 * The answer to a write. `stored`: to an intent: make the call. `known`: the call was made before. `refused`: another
 * delivery has taken over. `full`: as many waits are open as may. `absent`: to a look, there is no such call.
 */
export type JournalAnswer =
  { readonly is: 'stored' | 'refused' | 'full' | 'absent' } | { readonly is: 'known'; readonly entry: JournalEntry };

export interface Journal {
  /** Writes in one transaction, in this order. */
  journal(writes: readonly JournalWrite[]): Promise<JournalAnswer[]>;
  /**
   * The batches that items of `set` keep to, each with all of its members. `mine`: no other open unit has it, and it
   * was now given to this one, with its members' inputs; otherwise its items of the set are left to that unit.
   */
  pinnedBatches(fence: Fence, set: IndexSet): Promise<{ members: IndexSet; mine: boolean }[]>;
  /** Open items of a job with a call to a vendor, or a start, whose answer is not known, ascending. */
  openIntents(no: number): Promise<IndexSet>;
  /** Waits of a job that a vendor knows of and that were not answered, ascending by index, from `after` on. */
  openWaitsOf(no: number, page: { after: number; limit: number }): Promise<OpenWait[]>;
  noteVendorCancels(no: number, sent: number, failed: number): Promise<void>;
}
