import { earliest } from '../backoff';
import { EMPTY, isEmpty, union, type IndexSet } from '../index-set';
import { learn } from '../unit-size';
import { add, claim, claimed, takeBack } from './at-hand';
import type { Found, PaceCommand, PaceEvent, UnitEnd } from './events';
import { sendUnits } from './sending';
import type { InFlight, PaceState } from './state';

export interface Step {
  readonly state: PaceState;
  readonly commands: readonly PaceCommand[];
}

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
      return [comeDue(state, event.now), []];
    case 'unit_ended':
      return [unitEnded(state, event.seq, event.end, event.now), []];
    case 'unit_lost':
      return unitLost(state, event.seq, event.now);
    case 'recovered':
      return [recovered(state, event.seq, event.open, event.nextDue), []];
    case 'timer':
      return [timerFired(state, event.now), []];
    case 'claimed':
      return [claimed(state, event), []];
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
  const { run, check, quarantine } = { run: end.handedBack, check: EMPTY, quarantine: EMPTY, ...end.elsewhere };
  const { slots, lane } = unit;
  const added = takeBack(state, lane, { run, check, quarantine }, now);
  return {
    ...added,
    // Where a ceiling of waits is met, some of them are this job's.
    dueElsewhere: end.fullMs === undefined ? added.dueElsewhere : (added.dueElsewhere ?? added.dueNow),
    inFlight: rest,
    nextDue: earliest(added.nextDue, end.nextDue),
    // Checks and lone suspects teach nothing of how long an item takes.
    pace: lane ? state.pace : learn(state.pace, state.tuning, { ran: end.ran, wallMs: end.wallMs, slots }),
    holdUntil: end.holdMs === undefined ? state.holdUntil : Math.max(state.holdUntil ?? 0, now + end.holdMs),
    fullUntil: fullUntil(state, lane, end, now),
    lostStreak: end.ran > 0 ? 0 : state.lostStreak,
  };
}

/** Until when no item is sent to be run, after this end of a unit. A wait that has ended makes room for another. */
function fullUntil(state: PaceState, lane: InFlight['lane'], end: UnitEnd, now: number): number | null {
  if (lane === 'check' && !isEmpty(end.handedBack)) return null;
  return end.fullMs === undefined ? state.fullUntil : Math.max(state.fullUntil ?? 0, now + end.fullMs);
}

/** Notes whether a due time has passed. */
function comeDue(state: PaceState, now: number): PaceState {
  if (!isDue(state.nextDue, now)) return state;
  return { ...state, dueNow: true, dueElsewhere: state.dueElsewhere === null ? null : true };
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
  const next = {
    ...state,
    timer: null,
    holdUntil: isDue(state.holdUntil, now) ? null : state.holdUntil,
    fullUntil: isDue(state.fullUntil, now) ? null : state.fullUntil,
  };
  // The answer to a claim that is under way says nothing of what came due after it was asked.
  if (state.claiming || !isDue(state.nextDue, now)) return next;
  return { ...comeDue(next, now), nextDue: null };
}

function recovered(state: PaceState, seq: number, open: Found, nextDue: number | null): PaceState {
  const { [seq]: asked, ...recovering } = state.recovering;
  if (!asked) return state;
  return {
    ...add(state, open),
    recovering,
    nextDue: earliest(state.nextDue, nextDue),
  };
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
  if (!next.paused) next = claim(next, commands);
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
      state: {
        ...next,
        cancel: 'settling',
        ready: EMPTY,
        checks: EMPTY,
        suspects: EMPTY,
        nextDue: null,
        dueNow: false,
      },
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
  const { cursor, total, ready, checks, suspects, nextDue, dueNow } = state;
  return cursor >= total && [ready, checks, suspects].every(isEmpty) && nextDue === null && !dueNow;
}

function setTimer(state: PaceState, commands: PaceCommand[]): Step {
  const held = earliest(state.holdUntil, state.fullUntil);
  // What has come due already is claimed when there is room, not at a time.
  const dueKnown = state.claiming || (state.dueElsewhere ?? state.dueNow);
  const wanted = state.paused ? null : earliest(held, dueKnown ? null : state.nextDue);
  if (wanted === state.timer) return { state, commands };
  return { state: { ...state, timer: wanted }, commands: [...commands, { type: 'timer', at: wanted }] };
}

function clearTimer(state: PaceState): PaceCommand[] {
  return state.timer === null ? [] : [{ type: 'timer', at: null }];
}

function isDue(at: number | null, now: number): boolean {
  return at !== null && at <= now;
}
