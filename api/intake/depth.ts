/** JSON that is nested deeper than this is refused: it would overflow the stack of whoever walks it. */
export const MAX_DEPTH = 64;

/** Why a value would not come out as it went in. */
export type Flaw = 'too_deep' | 'infinite';

/**
 * What is wrong with a value, of which no more than `most` levels are looked at. A number such as 1e999 is read as
 * infinite, and would be written as null.
 */
export function findFlaw(value: unknown, most: number = MAX_DEPTH): Flaw | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'infinite';
  if (typeof value !== 'object' || value === null) return undefined;
  if (most === 0) return 'too_deep';
  for (const key in value) {
    const flaw = findFlaw((value as Record<string, unknown>)[key], most - 1);
    if (flaw) return flaw;
  }
  return undefined;
}
