import { decode, encode, EMPTY, type IndexSet } from '../index-set';
import { initialPace, type Pace, type Tuning } from '../unit-size';
import type { Lane } from './events';

/** A unit that was sent and has not ended. */
export interface InFlight {
  readonly set: IndexSet;
  /** Of the job's window; a check holds none. */
  readonly slots: number;
  /** Absent for `run`. */
  readonly lane?: Exclude<Lane, 'run'>;
}

/**
 * All that the workflow knows of a job: where it is, never which item is where. Under 64 KB for 300,000 items.
 * Times are ms since the epoch.
 */
export interface PaceState {
  readonly total: number;
  readonly tuning: Tuning;
  readonly pace: Pace;
  /** Items from here on were never sent. */
  readonly cursor: number;
  /** Items to be sent before the cursor moves: handed back, recovered, or come due. */
  readonly ready: IndexSet;
  /** Waiting items of which the vendor is to be asked. */
  readonly checks: IndexSet;
  /** Items to be run in quarantine. */
  readonly suspects: IndexSet;
  readonly inFlight: Readonly<Record<number, InFlight>>;
  /** Lost units whose open items are being asked of the store. */
  readonly recovering: Readonly<Record<number, IndexSet>>;
  readonly nextSeq: number;
  /** Earliest due time of a parked item, as far as is known; null when none is parked. */
  readonly nextDue: number | null;
  /** A due time has passed: there is something to claim. */
  readonly dueNow: boolean;
  /**
   * The same for the lanes other than `run`, which are claimed also while there is no room for more to be run: a wait
   * that nobody asks about is never answered, and may be what the others wait for. Null until an item of theirs was
   * seen, so that a job without any goes as it did in the first release.
   */
  readonly dueElsewhere: boolean | null;
  readonly claiming: boolean;
  /** Nothing is sent before this time. */
  readonly holdUntil: number | null;
  /** No item is sent to be run before this time: as many wait as may. */
  readonly fullUntil: number | null;
  /** Waves of lost units in a row without progress between them. */
  readonly lostStreak: number;
  /** Units with a number under this one belong to the last wave: one dead worker loses all of its units at once. */
  readonly lostBelow: number;
  readonly paused: boolean;
  readonly cancel: 'none' | 'asked' | 'settling' | 'settled';
  readonly rollover: boolean;
  readonly finalizing: boolean;
  /** How often the store found items without an outcome when the job was to close. */
  readonly finalizeRounds: number;
  readonly timer: number | null;
  readonly closed: boolean;
}

/** Where a job begins; another generation begins where the store says that work is open. */
export interface Beginning {
  readonly total: number;
  readonly tuning: Tuning;
  readonly cursor?: number;
  readonly nextDue?: number | null;
  readonly paused?: boolean;
}

export function initialState(from: Beginning): PaceState {
  return {
    total: from.total,
    tuning: from.tuning,
    pace: initialPace(from.tuning),
    cursor: from.cursor ?? 0,
    ready: EMPTY,
    checks: EMPTY,
    suspects: EMPTY,
    inFlight: {},
    recovering: {},
    nextSeq: 1,
    nextDue: from.nextDue ?? null,
    dueNow: false,
    dueElsewhere: null,
    claiming: false,
    holdUntil: null,
    fullUntil: null,
    lostStreak: 0,
    lostBelow: 0,
    paused: from.paused ?? false,
    cancel: 'none',
    rollover: false,
    finalizing: false,
    finalizeRounds: 0,
    timer: null,
    closed: false,
  };
}

/** A state as plain JSON with its sets as short texts: what continue-as-new carries. */
export type EncodedState = Omit<
  PaceState,
  'ready' | 'checks' | 'suspects' | 'fullUntil' | 'dueElsewhere' | 'inFlight' | 'recovering'
> & {
  readonly recovering: Readonly<Record<number, string>>;
  readonly ready: string;
  /** Absent, as the next three are, in what the first release carried over. */
  readonly checks?: string;
  readonly suspects?: string;
  readonly fullUntil?: number | null;
  readonly dueElsewhere?: boolean | null;
  readonly inFlight: Readonly<Record<number, Omit<InFlight, 'set'> & { readonly set: string }>>;
};

function mapValues<A, B>(record: Readonly<Record<number, A>>, convert: (value: A) => B): Record<number, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value)]));
}

export function encodeState(state: PaceState): EncodedState {
  return {
    ...state,
    ready: encode(state.ready),
    checks: encode(state.checks),
    suspects: encode(state.suspects),
    recovering: mapValues(state.recovering, encode),
    inFlight: mapValues(state.inFlight, (unit) => ({ ...unit, set: encode(unit.set) })),
  };
}

export function decodeState(encoded: EncodedState): PaceState {
  return {
    ...encoded,
    ready: decode(encoded.ready),
    checks: decode(encoded.checks ?? ''),
    suspects: decode(encoded.suspects ?? ''),
    fullUntil: encoded.fullUntil ?? null,
    dueElsewhere: encoded.dueElsewhere ?? null,
    // The first release forgot it here, and its runs are replayed: finalize finds such items.
    dueNow: encoded.checks !== undefined && encoded.dueNow,
    recovering: mapValues(encoded.recovering, decode),
    inFlight: mapValues(encoded.inFlight, (unit) => ({ ...unit, set: decode(unit.set) })),
  };
}

/** The state with which the next run of a workflow goes on after a rollover: timers do not cross it. */
export function resumeState(encoded: EncodedState): PaceState {
  return { ...decodeState(encoded), rollover: false, timer: null };
}
