/** JSON that is nested deeper than this is refused: it would overflow the stack of whoever walks it. */
export const MAX_DEPTH = 64;

/** Whether a value is nested over `most` levels; looks no deeper than that. */
export function exceedsDepth(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  for (const key in value) {
    if (exceedsDepth((value as Record<string, unknown>)[key], most - 1)) return true;
  }
  return false;
}
