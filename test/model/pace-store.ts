import * as sets from '../../model/index-set';
import { earliest } from '../../model/backoff';
import type { ParkKind } from '../../model/attempts';
import { CLAIM_PIECES, type Found, type Lane } from '../../model/pace';

export type End = 'ran' | 'failed' | 'skipped';

const LANES: Readonly<Record<ParkKind, Lane>> = {
  retry: 'run',
  defer: 'run',
  answer: 'run',
  wait: 'check',
  suspect: 'quarantine',
};

/** The store as the pace machine knows it: outcomes, and who is parked for what until when. */
export class ItemStore {
  private readonly ends: (End | undefined)[];
  private readonly kinds: (ParkKind | undefined)[];
  private readonly dues: Float64Array;
  /** Attempts that counted, waits that were started, deaths alone: by item. */
  readonly attempts: Uint8Array;
  readonly waits: Uint8Array;
  readonly deaths: Uint8Array;
  ended = 0;
  /** Items that wait for an answer. */
  waiting = 0;

  constructor(readonly total: number) {
    this.ends = Array<undefined>(total).fill(undefined);
    this.kinds = Array<undefined>(total).fill(undefined);
    this.dues = new Float64Array(total);
    this.attempts = new Uint8Array(total);
    this.waits = new Uint8Array(total);
    this.deaths = new Uint8Array(total);
  }

  hasEnded(item: number): boolean {
    return this.ends[item] !== undefined;
  }

  end(item: number, how: End): void {
    if (this.hasEnded(item)) throw new Error(`item ${item} ended twice`);
    this.unpark(item);
    this.ends[item] = how;
    this.ended++;
  }

  park(item: number, kind: ParkKind, due: number): number {
    if (this.hasEnded(item)) throw new Error(`item ${item} is parked after its end`);
    this.unpark(item);
    if (kind === 'wait') this.waiting++;
    this.kinds[item] = kind;
    this.dues[item] = due;
    return due;
  }

  private unpark(item: number): void {
    if (this.kinds[item] === 'wait') this.waiting--;
    this.kinds[item] = undefined;
  }

  /** Where the item belongs, were it due. */
  lane(item: number): Lane {
    const kind = this.kinds[item];
    return kind === undefined ? 'run' : LANES[kind];
  }

  /** When a parked item is due that is not due yet; null otherwise. */
  later(item: number, now: number): number | null {
    return this.kinds[item] !== undefined && this.dues[item]! > now ? this.dues[item]! : null;
  }

  /** Items of the set that have not ended and are not parked for later, by lane; and when the others come due. */
  open(set: sets.IndexSet, now: number): { open: Found; nextDue: number | null } {
    const open = byLane();
    let nextDue: number | null = null;
    for (const item of sets.indexes(set)) {
      if (this.hasEnded(item)) continue;
      const later = this.later(item, now);
      if (later === null) open[this.lane(item)].push(item);
      else nextDue = earliest(nextDue, later);
    }
    return { open: toFound(open), nextDue };
  }

  /** Due items, the earliest first: no more than the limit, nor in more pieces than the machine has room for. */
  claim(
    exclude: sets.IndexSet,
    limit: number,
    without: 'run' | undefined,
    now: number,
  ): { due: Found; more: boolean; nextDue: number | null } {
    const excluded = new Uint8Array(this.total);
    for (let i = 0; i < exclude.length; i += 2) excluded.fill(1, exclude[i], exclude[i + 1]);
    const times = new Map<number, number[]>();
    let nextDue: number | null = null;
    for (let item = 0; item < this.total; item++) {
      if (excluded[item] === 1 || this.kinds[item] === undefined || this.lane(item) === without) continue;
      const time = this.dues[item]!;
      if (time > now) nextDue = earliest(nextDue, time);
      else if (!times.get(time)?.push(item)) times.set(time, [item]);
    }
    const due = [...times.keys()].sort((a, b) => a - b).flatMap((time) => times.get(time)!);
    const taken = this.cut(due.slice(0, limit));
    const found = byLane();
    for (const item of due.slice(0, taken)) found[this.lane(item)].push(item);
    return { due: toFound(found), more: taken < due.length, nextDue };
  }

  /** How many items, from the first on, make no more ranges than `CLAIM_PIECES`. */
  private cut(items: readonly number[]): number {
    const seen: Record<Lane, Set<number>> = { run: new Set(), check: new Set(), quarantine: new Set() };
    let pieces = 0;
    let fitting = 0;
    items.forEach((item, at) => {
      const set = seen[this.lane(item)];
      pieces += 1 - Number(set.has(item - 1)) - Number(set.has(item + 1));
      set.add(item);
      if (pieces <= CLAIM_PIECES) fitting = at + 1;
    });
    return fitting;
  }

  /** Where a new generation of the job's workflow begins: at the first item that was never parked and has not ended. */
  beginning(): { cursor: number; nextDue: number | null } {
    let cursor = this.total;
    let nextDue: number | null = null;
    for (let item = 0; item < this.total; item++) {
      if (this.hasEnded(item)) continue;
      if (this.kinds[item] === undefined) cursor = Math.min(cursor, item);
      else nextDue = earliest(nextDue, this.dues[item]!);
    }
    return { cursor, nextDue };
  }
}

export function byLane(): Record<Lane, number[]> {
  return { run: [], check: [], quarantine: [] };
}

export function toFound(items: Record<Lane, number[]>): Found {
  return {
    run: sets.fromIndexes(items.run),
    check: sets.fromIndexes(items.check),
    quarantine: sets.fromIndexes(items.quarantine),
  };
}
