import { isEmpty, range, size, take, union, type IndexSet } from '../index-set';
import { slotsPerUnit, unitSize } from '../unit-size';
import type { Lane, PaceCommand } from './events';
import type { PaceState } from './state';

/**
 * Units of one job that check waits at once, and waiting items in one of them: the vendor is asked about many at a time,
 * so that a unit of checks is as quick as a unit of no-ops. They are fewer where they are scattered, as the state has to
 * stay small.
 */
const CHECK = { units: 10, items: 1_000, pieces: 500 };

/** Suspects in one unit: they run one after the other, and one that kills its process costs a new one. */
const QUARANTINE = { units: 1, items: 20 };

/**
 * Sends as much as may be under way at once: suspects first, then checks, then what is to be run. Where as many wait as
 * may, only checks make room for more; a suspect that was to wait would come back as it went.
 */
export function sendUnits(state: PaceState, commands: PaceCommand[]): PaceState {
  if (state.fullUntil !== null) return sendChecks(state, commands);
  return sendRuns(sendChecks(sendQuarantine(state, commands), commands), commands);
}

/** Suspects hold one slot of the window, so that a job of concurrency 1 never has two items running. */
function sendQuarantine(state: PaceState, commands: PaceCommand[]): PaceState {
  if (isEmpty(state.suspects) || unitsIn(state, 'quarantine') >= QUARANTINE.units || freeSlots(state) < 1) return state;
  const { taken, rest } = take(state.suspects, QUARANTINE.items);
  return send({ ...state, suspects: rest }, commands, 'quarantine', taken, 1);
}

function sendChecks(state: PaceState, commands: PaceCommand[]): PaceState {
  let next = state;
  for (let units = unitsIn(state, 'check'); units < CHECK.units && !isEmpty(next.checks); units++) {
    const { taken, rest } = take(next.checks, CHECK.items, CHECK.pieces);
    next = send({ ...next, checks: rest }, commands, 'check', taken, 0);
  }
  return next;
}

function sendRuns(state: PaceState, commands: PaceCommand[]): PaceState {
  let free = freeSlots(state);
  let next = state;
  for (;;) {
    const remaining = size(next.ready) + next.total - next.cursor;
    if (free <= 0 || remaining === 0) return next;
    const { set, rest, cursor } = cut(next, unitSize(next.pace, next.tuning, remaining));
    const slots = Math.min(slotsPerUnit(next.tuning), free, size(set));
    next = send({ ...next, ready: rest, cursor }, commands, 'run', set, slots);
    free -= slots;
  }
}

function send(state: PaceState, commands: PaceCommand[], lane: Lane, set: IndexSet, slots: number): PaceState {
  const seq = state.nextSeq;
  commands.push({ type: 'send', seq, lane, set, slots });
  const unit = { set, slots, ...(lane !== 'run' && { lane }) };
  return { ...state, nextSeq: seq + 1, inFlight: { ...state.inFlight, [seq]: unit } };
}

/** The next `count` items: those that are ready first, then from the cursor. */
function cut(state: PaceState, count: number): { set: IndexSet; rest: IndexSet; cursor: number } {
  const { taken, rest } = take(state.ready, count);
  const cursor = Math.min(state.total, state.cursor + count - size(taken));
  return { set: union(taken, range(state.cursor, cursor)), rest, cursor };
}

function freeSlots(state: PaceState): number {
  return state.tuning.window - Object.values(state.inFlight).reduce((sum, unit) => sum + unit.slots, 0);
}

function unitsIn(state: PaceState, lane: Lane): number {
  return Object.values(state.inFlight).filter((unit) => unit.lane === lane).length;
}
