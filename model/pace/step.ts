import { earliest } from '../backoff';
import { EMPTY, isEmpty, range, size, take, union, type IndexSet } from '../index-set';
import { learn, slotsPerUnit, unitSize } from '../unit-size';
import type { PaceCommand, PaceEvent, UnitEnd } from './events';
import type { InFlight, PaceState } from './state';

export interface Step {
  readonly state: PaceState;
  readonly commands: readonly PaceCommand[];
}

/** Most items taken out of the store by one claim; bounds the state, since due items may be scattered. */
export const CLAIM_LIMIT = 2_000;

/** Rounds of finalize after which a job counts as stuck; from then on a round waits `STUCK_HOLD_MS`. */
export const STUCK_ROUNDS = 2;
const STUCK_HOLD_MS = 60_000;

const LOST_HOLD_MS = { first: 1_000, most: 60_000 };

/**
 * The pace machine: what a job does next, as a pure function. The Temporal workflow and the in-process queue are two
 * interpreters of it; neither decides anything.
 */
export function step(state: PaceState, event: PaceEvent): Step {
  if (state.closed) return { state, commands: [] };
  const [applied, commands] = apply(state, event);
  const pumped = pump(applied);
  return { state: pumped.state, commands: [...commands, ...pumped.commands] };
}

function apply(state: PaceState, event: PaceEvent): [PaceState, PaceCommand[]] {
  switch (event.type) {
    case 'start':
      return [{ ...state, dueNow: isDue(state.nextDue, event.now) }, []];
    case 'unit_ended':
      return [unitEnded(state, event.seq, event.end, event.now), []];
    case 'unit_lost':
      return unitLost(state, event.seq, event.now);
    case 'recovered':
      return [recovered(state, event.seq, event.open, event.nextDue), []];
    case 'timer':
      return [timerFired(state, event.now), []];
    case 'claimed':
      return [
        {
          ...state,
          claiming: false,
          ready: union(state.ready, event.set),
          dueNow: event.more,
          nextDue: earliest(state.nextDue, event.nextDue),
        },
        [],
      ];
    case 'cancel':
      if (state.cancel !== 'none') return [state, []];
      return [{ ...state, cancel: 'asked' }, [{ type: 'cancel_units' }]];
    case 'pause':
      return [{ ...state, paused: true }, []];
    case 'resume':
      return [{ ...state, paused: false }, []];
    case 'rollover':
      return [{ ...state, rollover: true }, []];
    case 'settled':
      return [{ ...state, cancel: 'settled' }, []];
    case 'finalized':
      return finalized(state, event.missing, event.nextDue, event.now);
  }
}

/** Removes a unit from those in flight; undefined when it is not there: a second answer of it changes nothing. */
function remove(state: PaceState, seq: number): { unit: InFlight; rest: Record<number, InFlight> } | undefined {
  const { [seq]: unit, ...rest } = state.inFlight;
  return unit && { unit, rest };
}

function unitEnded(state: PaceState, seq: number, end: UnitEnd, now: number): PaceState {
  const removed = remove(state, seq);
  if (!removed) return state;
  const { unit, rest } = removed;
  return {
    ...state,
    inFlight: rest,
    ready: union(state.ready, end.handedBack),
    nextDue: earliest(state.nextDue, end.nextDue),
    pace: learn(state.pace, state.tuning, { ran: end.ran, wallMs: end.wallMs, slots: unit.slots }),
    holdUntil: end.holdMs === undefined ? state.holdUntil : Math.max(state.holdUntil ?? 0, now + end.holdMs),
    lostStreak: end.ran > 0 ? 0 : state.lostStreak,
  };
}

function unitLost(state: PaceState, seq: number, now: number): [PaceState, PaceCommand[]] {
  const removed = remove(state, seq);
  if (!removed) return [state, []];
  const newWave = seq >= state.lostBelow;
  const lostStreak = newWave ? state.lostStreak + 1 : state.lostStreak;
  // One wave is a dead worker, and the work goes on at once. Wave after wave with nothing done between them would be a
  // hot loop, so it waits.
  const hold =
    newWave && lostStreak > 1 ? now + Math.min(LOST_HOLD_MS.most, LOST_HOLD_MS.first * 2 ** (lostStreak - 2)) : null;
  return [
    {
      ...state,
      inFlight: removed.rest,
      recovering: { ...state.recovering, [seq]: removed.unit.set },
      lostStreak,
      lostBelow: newWave ? state.nextSeq : state.lostBelow,
      holdUntil: hold === null ? state.holdUntil : Math.max(state.holdUntil ?? 0, hold),
    },
    [{ type: 'recover', seq, set: removed.unit.set }],
  ];
}

function timerFired(state: PaceState, now: number): PaceState {
  const due = isDue(state.nextDue, now);
  return {
    ...state,
    timer: null,
    holdUntil: isDue(state.holdUntil, now) ? null : state.holdUntil,
    dueNow: state.dueNow || due,
    nextDue: due ? null : state.nextDue,
  };
}

function recovered(state: PaceState, seq: number, open: IndexSet, nextDue: number | null): PaceState {
  const { [seq]: asked, ...recovering } = state.recovering;
  if (!asked) return state;
  return {
    ...state,
    recovering,
    ready: union(state.ready, open),
    nextDue: earliest(state.nextDue, nextDue),
  };
}

/** Items that are not the store's to give: in a unit, about to be, or ahead of the cursor, which will reach them. */
function inHand(state: PaceState): IndexSet {
  const sets = [...Object.values(state.inFlight).map((unit) => unit.set), ...Object.values(state.recovering)];
  return sets.reduce<IndexSet>(union, union(state.ready, range(state.cursor, state.total)));
}

function finalized(state: PaceState, missing: IndexSet, due: number | null, now: number): [PaceState, PaceCommand[]] {
  if (isEmpty(missing) && due === null) return [{ ...state, finalizing: false, closed: true }, [{ type: 'close' }]];
  const finalizeRounds = state.finalizeRounds + 1;
  return [
    {
      ...state,
      finalizing: false,
      finalizeRounds,
      // A cancel settles again; otherwise the items are sent again.
      cancel: state.cancel === 'settled' ? 'asked' : state.cancel,
      ready: union(state.ready, missing),
      nextDue: earliest(state.nextDue, due),
      holdUntil: finalizeRounds >= STUCK_ROUNDS ? now + STUCK_HOLD_MS : state.holdUntil,
    },
    [],
  ];
}

/** What follows from where things stand, whatever happened last. */
function pump(state: PaceState): Step {
  if (state.closed) return { state, commands: [] };
  if (state.cancel !== 'none') return pumpCancel(state);
  if (state.rollover) return { state, commands: [] };
  const commands: PaceCommand[] = [];
  let next = state;
  if (!next.paused && next.holdUntil === null) next = sendUnits(next, commands);
  if (!next.paused && next.dueNow && !next.claiming && size(next.ready) < CLAIM_LIMIT) {
    next = { ...next, claiming: true };
    commands.push({ type: 'claim', exclude: inHand(next), limit: CLAIM_LIMIT });
  }
  if (isIdle(next) && isDone(next)) {
    next = { ...next, finalizing: true };
    commands.push({ type: 'finalize', round: next.finalizeRounds });
  }
  return setTimer(next, commands);
}

/** Whether the job may continue as new: it was asked to, nothing is in flight, and no cancel is under way. */
export function canRollOver(state: PaceState): boolean {
  return state.rollover && !state.closed && state.cancel === 'none' && isIdle(state);
}

function pumpCancel(state: PaceState): Step {
  const commands: PaceCommand[] = clearTimer(state);
  const next: PaceState = { ...state, timer: null };
  if (!isIdle(state)) return { state: next, commands };
  if (state.cancel === 'asked') {
    return {
      state: { ...next, cancel: 'settling', ready: EMPTY, nextDue: null, dueNow: false },
      commands: [...commands, { type: 'settle' }],
    };
  }
  if (state.cancel === 'settled') {
    return {
      state: { ...next, finalizing: true },
      commands: [...commands, { type: 'finalize', round: state.finalizeRounds }],
    };
  }
  return { state: next, commands };
}

/** Nothing is under way whose answer is awaited. */
function isIdle(state: PaceState): boolean {
  return (
    Object.keys(state.inFlight).length === 0 &&
    Object.keys(state.recovering).length === 0 &&
    !state.claiming &&
    !state.finalizing
  );
}

/** Nothing is left to send, now or later. */
function isDone(state: PaceState): boolean {
  return state.cursor >= state.total && isEmpty(state.ready) && state.nextDue === null && !state.dueNow;
}

function sendUnits(state: PaceState, commands: PaceCommand[]): PaceState {
  let free = state.tuning.window - Object.values(state.inFlight).reduce((sum, unit) => sum + unit.slots, 0);
  let next = state;
  for (;;) {
    const remaining = size(next.ready) + next.total - next.cursor;
    if (free <= 0 || remaining === 0) return next;
    const { set, rest, cursor } = cut(next, unitSize(next.pace, next.tuning, remaining));
    const slots = Math.min(slotsPerUnit(next.tuning), free, size(set));
    const seq = next.nextSeq;
    commands.push({ type: 'send', seq, set, slots });
    next = { ...next, ready: rest, cursor, nextSeq: seq + 1, inFlight: { ...next.inFlight, [seq]: { set, slots } } };
    free -= slots;
  }
}

/** The next `count` items: those that are ready first, then from the cursor. */
function cut(state: PaceState, count: number): { set: IndexSet; rest: IndexSet; cursor: number } {
  const { taken, rest } = take(state.ready, count);
  const cursor = Math.min(state.total, state.cursor + count - size(taken));
  return { set: union(taken, range(state.cursor, cursor)), rest, cursor };
}

function setTimer(state: PaceState, commands: PaceCommand[]): Step {
  const wanted = state.paused ? null : earliest(state.holdUntil, state.dueNow ? null : state.nextDue);
  if (wanted === state.timer) return { state, commands };
  return { state: { ...state, timer: wanted }, commands: [...commands, { type: 'timer', at: wanted }] };
}

function clearTimer(state: PaceState): PaceCommand[] {
  return state.timer === null ? [] : [{ type: 'timer', at: null }];
}

function isDue(at: number | null, now: number): boolean {
  return at !== null && at <= now;
}
