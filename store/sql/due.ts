import { sql } from 'kysely';
import { PARK_KINDS, type ParkKind } from '../../model/attempts';
import { fromIndexes, has, type IndexSet } from '../../model/index-set';
import { CLAIM_PIECES, type Found, type Lane } from '../../model/pace';
import type { Units } from '../port';
import type { SqlDialect } from './dialect';

const PAGE = 2_000;

/** The first item that is due later tells when, and it is hardly ever one in hand. */
const NEXT_PAGE = 50;

const LANES: Readonly<Record<ParkKind, Lane>> = {
  retry: 'run',
  defer: 'run',
  answer: 'run',
  wait: 'check',
  suspect: 'quarantine',
};

/** Items of a lane taken so far, in the order they were due. */
class Taken {
  private readonly items: number[] = [];
  private readonly set = new Set<number>();
  private pieces = 0;
  /** How many of the items, from the first on, are in few enough ranges. */
  private fitting = 0;

  /** Whether the items are in too many ranges: some of them are left for the next claim. */
  get cut(): boolean {
    return this.fitting < this.items.length;
  }

  add(idx: number): void {
    this.pieces += 1 - Number(this.set.has(idx - 1)) - Number(this.set.has(idx + 1));
    this.set.add(idx);
    this.items.push(idx);
    // Not the first place where there are too many, but the last where there are not: gaps may fill up later.
    if (this.pieces <= CLAIM_PIECES) this.fitting = this.items.length;
  }

  found(): IndexSet {
    return fromIndexes(this.items.slice(0, this.fitting));
  }
}

/** The items that are due, those first that were due first, and when the next one is. */
export async function findDue(
  dialect: SqlDialect,
  no: number,
  claim: { exclude: IndexSet; limit: number; without?: 'run' | undefined },
  at: number,
): ReturnType<Units['due']> {
  const { exclude, limit, without } = claim;
  const taken = { run: new Taken(), check: new Taken(), quarantine: new Taken() };
  const kinds = PARK_KINDS.filter((kind) => LANES[kind] !== without);
  let size = 0;
  let more = false;
  const dueNow = inPages(dialect, no, { kinds, from: { due: 0, idx: -1 }, upTo: at, size: PAGE });
  for await (const { idx, kind } of dueNow) {
    // Items in hand are left out here and not in SQL: there are few of them, and the ranges are already sorted.
    if (has(exclude, idx)) continue;
    more = size === limit;
    if (more) break;
    taken[LANES[kind]].add(idx);
    size += 1;
  }
  const { run, check, quarantine } = taken;
  more ||= run.cut || check.cut || quarantine.cut;
  const due: Found = { run: run.found(), check: check.found(), quarantine: quarantine.found() };
  return { due, more, nextDue: more ? null : await nextDue(dialect, no, exclude, at) };
}

/** When the next item outside of `exclude` comes due, in any lane. */
async function nextDue(dialect: SqlDialect, no: number, exclude: IndexSet, at: number): Promise<number | null> {
  const from = { due: at, idx: Number.MAX_SAFE_INTEGER };
  const later = inPages(dialect, no, { kinds: PARK_KINDS, from, upTo: Number.MAX_SAFE_INTEGER, size: NEXT_PAGE });
  for await (const row of later) if (!has(exclude, row.idx)) return row.due;
  return null;
}

interface Pages {
  readonly kinds: readonly ParkKind[];
  /** Where they begin: behind this place. */
  readonly from: { readonly due: number; readonly idx: number };
  readonly upTo: number;
  readonly size: number;
}

/** Parked items in the order they are due; each page is a read of its own, since thousands may be in hand. */
async function* inPages(
  dialect: SqlDialect,
  no: number,
  { kinds, from, upTo, size }: Pages,
): AsyncGenerator<{ idx: number; due: number; kind: ParkKind }> {
  for (let after = from; ;) {
    const rows = await dialect.read((db) =>
      db
        .selectFrom('parked')
        .select(['idx', 'due', 'kind'])
        .where('job_no', '=', no)
        .where(sql<boolean>`(due, idx) > (${after.due}, ${after.idx})`)
        .where('due', '<=', upTo)
        .$if(kinds.length < PARK_KINDS.length, (query) => query.where('kind', 'in', kinds))
        .orderBy('due')
        .orderBy('idx')
        .limit(size)
        .execute(),
    );
    for (const row of rows) yield { idx: row.idx, due: Number(row.due), kind: row.kind as ParkKind };
    const last = rows[rows.length - 1];
    if (rows.length < size || !last) return;
    after = { due: Number(last.due), idx: last.idx };
  }
}
