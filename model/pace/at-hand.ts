import { isEmpty, range, size, union, type IndexSet } from '../index-set';
import { earliest } from '../backoff';
import type { Found, PaceCommand, PaceEvent } from './events';
import type { InFlight, PaceState } from './state';

/**
 * Most items taken out of the store by one claim. The store gives fewer where they are scattered, since the state has to
 * stay small: at most `CLAIM_PIECES` ranges, counted in each lane. With fewer than `CLAIM_AT` at hand, more are asked
 * for.
 */
export const CLAIM_LIMIT = 20_000;
export const CLAIM_PIECES = 2_000;
const CLAIM_AT = 2_000;

/** Most ranges at hand of a lane that a unit may add to, where the store can give its items again. */
const MOST_PIECES = 4_000;

/** Adds what is to be sent, each to its lane. */
export function add(state: PaceState, found: Found): PaceState {
  const seen = !isEmpty(found.check) || !isEmpty(found.quarantine);
  return {
    ...state,
    ready: union(state.ready, found.run),
    checks: union(state.checks, found.check),
    suspects: union(state.suspects, found.quarantine),
    dueElsewhere: state.dueElsewhere ?? (seen ? state.dueNow : null),
  };
}

/**
 * Adds what a unit gives back. Items in other lanes than `run`, and those that a check found answered, are parked and
 * due: where they are too many, the store may as well keep them until they are claimed. Checks hold no slots, so
 * nothing else would slow them down to the pace at which their items are run.
 */
export function takeBack(state: PaceState, lane: InFlight['lane'], back: Found, now: number): PaceState {
  const next = add(state, back);
  const isOver = (set: IndexSet, before: IndexSet): boolean => set !== before && set.length > 2 * MOST_PIECES;
  const run = lane === 'check' && isOver(next.ready, state.ready);
  const check = isOver(next.checks, state.checks);
  const quarantine = isOver(next.suspects, state.suspects);
  if (!run && !check && !quarantine) return next;
  const kept = {
    ...next,
    ready: run ? state.ready : next.ready,
    checks: check ? state.checks : next.checks,
    suspects: quarantine ? state.suspects : next.suspects,
  };
  // A claim that is under way does not find them, and is to be followed by another.
  if (state.claiming) return { ...kept, nextDue: earliest(kept.nextDue, now) };
  return { ...kept, dueNow: true, dueElsewhere: check || quarantine || kept.dueElsewhere };
}

/** Asks for what is due, where there is room for it. */
export function claim(state: PaceState, commands: PaceCommand[]): PaceState {
  const elsewhere = size(state.checks) + size(state.suspects);
  const all = state.dueNow && size(state.ready) + elsewhere < CLAIM_AT;
  const others = state.dueElsewhere === true && elsewhere < CLAIM_AT;
  if (state.claiming || !(all || others)) return state;
  const without = all ? {} : { without: 'run' as const };
  commands.push({ type: 'claim', exclude: inHand(state), limit: CLAIM_LIMIT, ...without });
  return { ...state, claiming: true };
}

export function claimed(state: PaceState, { without, due, more, nextDue }: PaceEvent & { type: 'claimed' }): PaceState {
  const added = add(state, due);
  return {
    ...added,
    claiming: false,
    // What is to be run was not asked for, and is due as before.
    dueNow: without === 'run' ? state.dueNow : more,
    dueElsewhere: added.dueElsewhere === null ? null : more,
    nextDue: earliest(state.nextDue, nextDue),
  };
}

/** Items that are not the store's to give: in a unit, about to be, or ahead of the cursor, which will reach them. */
function inHand(state: PaceState): IndexSet {
  const sets = [
    ...Object.values(state.inFlight).map((unit) => unit.set),
    ...Object.values(state.recovering),
    state.checks,
    state.suspects,
  ];
  return sets.reduce<IndexSet>(union, union(state.ready, range(state.cursor, state.total)));
}
