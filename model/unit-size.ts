/** How a job's window is cut into units. */
export interface Tuning {
  /** Items of the job in flight at once. */
  readonly window: number;
  /** Most items in one unit. */
  readonly unitMax: number;
  /** For a payload that takes batches: the largest one. Null for one that takes items. */
  readonly batch: number | null;
}

/** A unit is meant to last this long: short enough to share workers, long enough to make its dispatch negligible. */
export const UNIT_TARGET_MS = 5_000;

/** Most units of a job in flight at once; more would cost heartbeats and history, and buy nothing. */
const LANES = 10;

/** How much a unit may outgrow the last one: one quick unit is no proof that the next items are quick. */
const GROWTH = 4;

/** The items in flight that one unit may have. A batch is in flight as a whole, so its unit needs room for all of it. */
export function slotsPerUnit(tuning: Tuning): number {
  if (tuning.batch !== null) return Math.min(tuning.window, tuning.batch);
  return Math.ceil(tuning.window / Math.min(tuning.window, LANES));
}

/** What the units so far have taught: how long an item holds a slot, and how large a unit may be now. */
export interface Pace {
  /** Smoothed ms that an item holds one slot; null before the first unit. */
  readonly slotMs: number | null;
  /** Largest unit that is allowed next. */
  readonly cap: number;
}

export function initialPace(tuning: Tuning): Pace {
  return { slotMs: null, cap: Math.min(tuning.unitMax, slotsPerUnit(tuning) * GROWTH) };
}

/** The pace after a unit in which `ran` items were run in `wallMs` on `slots` slots. */
export function learn(pace: Pace, tuning: Tuning, unit: { ran: number; wallMs: number; slots: number }): Pace {
  if (unit.ran === 0) return pace;
  const measured = (unit.wallMs / unit.ran) * Math.min(unit.slots, unit.ran);
  const slotMs = pace.slotMs === null ? measured : pace.slotMs * 0.7 + measured * 0.3;
  return {
    slotMs: Math.round(slotMs * 100) / 100,
    cap: Math.min(tuning.unitMax, Math.max(pace.cap, unit.ran * GROWTH)),
  };
}

/** How many of `remaining` items the next unit takes: towards 5 s of work, and an even share of what is left. */
export function unitSize(pace: Pace, tuning: Tuning, remaining: number): number {
  const slots = slotsPerUnit(tuning);
  const lanes = Math.max(1, Math.floor(tuning.window / slots));
  const timely = pace.slotMs === null ? pace.cap : (slots * UNIT_TARGET_MS) / Math.max(pace.slotMs, 0.001);
  const share = Math.ceil(remaining / lanes);
  // Whole rounds of the slots: a last round that is not full leaves slots idle for as long as an item takes.
  const rounds = Math.max(1, Math.round(Math.min(pace.cap, timely, share) / slots));
  return Math.max(1, Math.min(remaining, tuning.unitMax, rounds * slots));
}
