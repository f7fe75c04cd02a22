/**
 * A set of item indexes as sorted, disjoint, non-adjacent half-open ranges, flat: `[from, to, from, to, ...]`.
 * Work over 300,000 items is mostly runs of neighbours, so a set stays a few numbers long.
 */
export type IndexSet = readonly number[];

export const EMPTY: IndexSet = Object.freeze([]);

/** The indexes `from <= i < to`. */
export function range(from: number, to: number): IndexSet {
  return to > from ? [from, to] : EMPTY;
}

/** The set of the given indexes, in any order, duplicates allowed. */
export function fromIndexes(indexes: Iterable<number>): IndexSet {
  const sorted = [...indexes].sort((a, b) => a - b);
  const set: number[] = [];
  for (const index of sorted) pushRange(set, index, index + 1);
  return set;
}

/** How many indexes the set holds. */
export function size(set: IndexSet): number {
  let count = 0;
  for (let i = 0; i < set.length; i += 2) count += set[i + 1]! - set[i]!;
  return count;
}

export function isEmpty(set: IndexSet): boolean {
  return set.length === 0;
}

/** The indexes in ascending order. */
export function* indexes(set: IndexSet): Generator<number> {
  for (let i = 0; i < set.length; i += 2) {
    for (let index = set[i]!; index < set[i + 1]!; index++) yield index;
  }
}

export function has(set: IndexSet, index: number): boolean {
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (set[2 * middle + 1]! <= index) low = middle + 1;
    else high = middle;
  }
  return low < set.length / 2 && set[2 * low]! <= index;
}

/** How many indexes of the set are below `index`. */
export function rank(set: IndexSet, index: number): number {
  let below = 0;
  for (let i = 0; i < set.length && set[i]! < index; i += 2) below += Math.min(set[i + 1]!, index) - set[i]!;
  return below;
}

/** Appends a range that starts at or after every range in `set`, merging it with the last one where they touch. */
function pushRange(set: number[], from: number, to: number): void {
  if (to <= from) return;
  const end = set[set.length - 1];
  if (end !== undefined && from <= end) set[set.length - 1] = Math.max(end, to);
  else set.push(from, to);
}

export function union(a: IndexSet, b: IndexSet): IndexSet {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const merged: number[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const takeA = j >= b.length || (i < a.length && a[i]! <= b[j]!);
    if (takeA) {
      pushRange(merged, a[i]!, a[i + 1]!);
      i += 2;
    } else {
      pushRange(merged, b[j]!, b[j + 1]!);
      j += 2;
    }
  }
  return merged;
}

/** The indexes that are in both. */
export function intersect(a: IndexSet, b: IndexSet): IndexSet {
  return subtract(a, subtract(a, b));
}

/** The indexes of `a` that are not in `b`. */
export function subtract(a: IndexSet, b: IndexSet): IndexSet {
  const rest: number[] = [];
  let j = 0;
  for (let i = 0; i < a.length; i += 2) {
    let from = a[i]!;
    const to = a[i + 1]!;
    while (j < b.length && b[j + 1]! <= from) j += 2;
    for (let k = j; k < b.length && b[k]! < to; k += 2) {
      pushRange(rest, from, b[k]!);
      from = Math.max(from, b[k + 1]!);
    }
    pushRange(rest, from, to);
  }
  return rest;
}

/** The `count` smallest indexes, fewer where they lie in more than `pieces` ranges, and what is left. */
export function take(set: IndexSet, count: number, pieces = Infinity): { taken: IndexSet; rest: IndexSet } {
  const taken: number[] = [];
  let left = count;
  for (let i = 0; i < set.length; i += 2) {
    if (i >= 2 * pieces) return { taken, rest: set.slice(i) };
    const from = set[i]!;
    const to = set[i + 1]!;
    if (left >= to - from) {
      taken.push(from, to);
      left -= to - from;
      continue;
    }
    const rest = [from + left, to, ...set.slice(i + 2)];
    if (left > 0) taken.push(from, from + left);
    return { taken, rest };
  }
  return { taken, rest: EMPTY };
}

/**
 * A text for histories: for each range the gap from the end of the last one and, when over 1, its length, in base 36.
 * `[0, 1000, 1005, 1006]` is `0+rs,5`.
 */
export function encode(set: IndexSet): string {
  const parts: string[] = [];
  let end = 0;
  for (let i = 0; i < set.length; i += 2) {
    const from = set[i]!;
    const to = set[i + 1]!;
    const gap = (from - end).toString(36);
    parts.push(to - from === 1 ? gap : `${gap}+${(to - from).toString(36)}`);
    end = to;
  }
  return parts.join(',');
}

/** @throws RangeError when the text was not made by `encode`. */
export function decode(text: string): IndexSet {
  if (text === '') return EMPTY;
  const set: number[] = [];
  let end = 0;
  for (const part of text.split(',')) {
    const [gap = '', length = '1'] = part.split('+');
    const from = end + parseInt(gap, 36);
    const to = from + parseInt(length, 36);
    if (!(from >= end && to > from)) throw new RangeError(`not an encoded index set: ${text.slice(0, 80)}`);
    set.push(from, to);
    end = to;
  }
  return set;
}
