import { distance } from 'fastest-levenshtein';

/** Lower case without diacritics: `Citroën` and `citroen` are one word. */
export function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The form in which names are compared: plain, without full stops, hyphens as single spaces. */
export function fold(text: string): string {
  return plain(text)
    .replace(/\./g, '')
    .replace(/[-\s]+/g, ' ')
    .trim();
}

/** The most slips after which a spelling can still be recognised: a third of its letters, at least one. */
export function farthest(meant: string): number {
  return Math.max(1, Math.floor(meant.length / 3));
}

/**
 * How many slips of the fingers lie between two spellings: letters added, dropped or changed, and at most one pair of
 * neighbours swapped, which is one slip (`chevroelt`, `hodna`) and not the two that the edit distance counts.
 * Infinity, cheaply, when the lengths alone are too far apart.
 */
export function slips(written: string, meant: string): number {
  if (Math.abs(written.length - meant.length) > farthest(meant)) return Infinity;
  let fewest = distance(written, meant);
  for (let i = 0; i + 1 < written.length; i++) {
    const swapped = written.slice(0, i) + written.charAt(i + 1) + written.charAt(i) + written.slice(i + 2);
    fewest = Math.min(fewest, 1 + distance(swapped, meant));
  }
  return fewest;
}
