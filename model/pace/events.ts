import type { IndexSet } from '../index-set';

/**
 * How a unit is run. `run`: its items, through the payload. `check`: its items wait, and their vendor is asked about
 * them. `quarantine`: its items are suspected of having killed a worker, and run one by one in a process of their own.
 */
export type Lane = 'run' | 'check' | 'quarantine';

/** Items that are to be sent, by the lane they belong in. */
export interface Found {
  readonly run: IndexSet;
  readonly check: IndexSet;
  readonly quarantine: IndexSet;
}

/** What a unit answers when it ends; see `UnitResult` in activities for what else it reports. */
export interface UnitEnd {
  /** Items to be sent again: those it did not start, and those whose wait it found answered. */
  readonly handedBack: IndexSet;
  /** Items it met that belong in another lane. */
  readonly elsewhere?: Omit<Found, 'run'>;
  /** Earliest due time among the items it parked; null when it parked none. */
  readonly nextDue: number | null;
  /** Attempts that ended in it. */
  readonly ran: number;
  readonly wallMs: number;
  /** Nothing should be sent for this long: no worker here serves the capability, or the store is away. */
  readonly holdMs?: number;
  /** A ceiling on open waits was met: nothing should be sent to be run for this long, unless a wait ends before. */
  readonly fullMs?: number;
}

/** What can happen to a job. `now` is the interpreter's clock, ms since the epoch. */
export type PaceEvent = { readonly now: number } & (
  | { readonly type: 'start' }
  | { readonly type: 'unit_ended'; readonly seq: number; readonly end: UnitEnd }
  /** The delivery died: heartbeat time-out, a killed worker, an error that is not the payload's. */
  | { readonly type: 'unit_lost'; readonly seq: number }
  /** The store's answer on a lost unit: its items that are neither ended nor parked. */
  | { readonly type: 'recovered'; readonly seq: number; readonly open: Found; readonly nextDue: number | null }
  | { readonly type: 'timer' }
  /** The store's answer to a claim, and what was claimed; `more` when it had further due items to give. */
  | {
      readonly type: 'claimed';
      readonly without?: 'run';
      readonly due: Found;
      readonly more: boolean;
      readonly nextDue: number | null;
    }
  | { readonly type: 'cancel' }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** The history grows long: start over with this state as soon as nothing is in flight. */
  | { readonly type: 'rollover' }
  | { readonly type: 'settled' }
  /** The store's answer to finalize: closed, or the items that still lack an outcome. */
  | { readonly type: 'finalized'; readonly missing: IndexSet; readonly nextDue: number | null }
);

/** What the interpreter is to do. */
export type PaceCommand =
  | {
      readonly type: 'send';
      readonly seq: number;
      readonly lane: Lane;
      readonly set: IndexSet;
      readonly slots: number;
    }
  /** End queued units at once and tell the running ones. */
  | { readonly type: 'cancel_units' }
  /** Close the lost unit in the store and ask what is open of it. */
  | { readonly type: 'recover'; readonly seq: number; readonly set: IndexSet }
  /** Ask the store for at most `limit` due items outside of `exclude`; `without` those of a lane that has enough. */
  | { readonly type: 'claim'; readonly exclude: IndexSet; readonly limit: number; readonly without?: 'run' }
  /** Replace the one timer; null clears it. */
  | { readonly type: 'timer'; readonly at: number | null }
  /** Give every item without an outcome the one that a cancel gives. */
  | { readonly type: 'settle' }
  | { readonly type: 'finalize'; readonly round: number }
  | { readonly type: 'close' };
