import * as sets from '../../model/index-set';
import { dueAt, earliest } from '../../model/backoff';
import type { Lane, UnitEnd } from '../../model/pace';
import { DEATH_LIMIT } from '../../model/quarantine';
import { byLane, toFound, type ItemStore } from './pace-store';

/** What the items of a job are like. */
export interface Nature {
  readonly maxAttempts: number;
  /** How many waits an item may start, one after the other, and how likely it is to. */
  readonly waits?: { readonly most: number; readonly chance: number };
  /** Most items that wait at once. */
  readonly maxOpen?: number;
  /** How likely an item is to be found started in a lost unit, and so to be a suspect. */
  readonly suspects?: number;
  /** Longest that a unit takes, ms. */
  readonly slowestUnit?: number;
}

export const FULL_MS = 5_000;

/** What a unit has come to; `back`: items to be sent again, by lane. */
class Unit {
  readonly back = byLane();
  nextDue: number | null = null;
  ran = 0;
  full = false;

  constructor(
    readonly store: ItemStore,
    readonly nature: Nature,
    readonly now: number,
    /** A number in [0, 1) per call: the larger, the better it goes. */
    readonly luck: () => number,
  ) {}

  park(item: number, kind: 'retry' | 'wait', upToMs: number): void {
    const due = dueAt(this.now, this.luck() * upToMs);
    this.nextDue = earliest(this.nextDue, this.store.park(item, kind, due));
  }

  end(): UnitEnd {
    const { run, ...elsewhere } = toFound(this.back);
    const wallMs = Math.floor(this.luck() * (this.nature.slowestUnit ?? 10_000));
    return {
      handedBack: run,
      ...((!sets.isEmpty(elsewhere.check) || !sets.isEmpty(elsewhere.quarantine)) && { elsewhere }),
      nextDue: this.nextDue,
      ran: this.ran,
      wallMs,
      ...(this.full && { fullMs: FULL_MS }),
    };
  }
}

const WORK: Readonly<Record<Lane, (unit: Unit, item: number) => void>> = { run, check, quarantine };

/** Does the work of a unit: what becomes of its items is luck. */
export function work(
  lane: Lane,
  set: sets.IndexSet,
  ...[store, nature, now, luck]: ConstructorParameters<typeof Unit>
): UnitEnd {
  const unit = new Unit(store, nature, now, luck);
  for (const item of sets.indexes(set)) {
    if (store.hasEnded(item)) continue;
    const later = store.later(item, now);
    if (later !== null) unit.nextDue = earliest(unit.nextDue, later);
    else if (store.lane(item) !== lane) unit.back[store.lane(item)].push(item);
    else WORK[lane](unit, item);
  }
  return unit.end();
}

/** An item is run: it is handed back, fails, starts a wait, or ends. */
function run(unit: Unit, item: number): void {
  const { store, nature, luck } = unit;
  const fate = luck();
  if (fate < 0.1 || unit.full) return void unit.back[store.lane(item)].push(item);
  const attempts = store.attempts[item]! + 1;
  if (attempts > nature.maxAttempts) throw new Error('attempts over the budget');
  if (fate < 0.3 && attempts < nature.maxAttempts) {
    unit.ran++;
    store.attempts[item] = attempts;
    return unit.park(item, 'retry', 20_000);
  }
  const { most = 0, chance = 0 } = nature.waits ?? {};
  if (store.waits[item]! >= most || fate >= 0.3 + chance) {
    unit.ran++;
    return store.end(item, 'ran');
  }
  // The ceiling is shared with other jobs, whose waits come and go.
  if (store.waiting >= (nature.maxOpen ?? Infinity) || (nature.maxOpen !== undefined && luck() < 0.1)) {
    unit.full = true;
    return void unit.back[store.lane(item)].push(item);
  }
  unit.ran++;
  store.waits[item]!++;
  unit.park(item, 'wait', 20_000);
}

/** The vendor is asked about an item: it is pending, has failed, was not asked about after all, or is answered. */
function check(unit: Unit, item: number): void {
  const { store, luck } = unit;
  const fate = luck();
  if (fate < 0.1) return void unit.back.check.push(item);
  unit.ran++;
  if (fate < 0.5) return unit.park(item, 'wait', 20_000);
  if (fate < 0.6) return store.end(item, 'failed');
  store.park(item, 'answer', unit.now);
  unit.back.run.push(item);
}

/** A suspect is run alone: its process dies, twice at the most, or it goes as any other. */
function quarantine(unit: Unit, item: number): void {
  const { store, luck } = unit;
  if (luck() >= 0.4) return run(unit, item);
  unit.ran++;
  store.deaths[item]!++;
  if (store.deaths[item]! >= DEATH_LIMIT) store.end(item, 'failed');
  else unit.back.quarantine.push(item);
}
