/** Short words that are words, not trim codes. */
const SMALL_WORDS = new Set(['de', 'la', 'le', 'el', 'of', 'to', 'up', 'go']);
const ROMAN = /^(i{1,3}|iv|vi{0,3}|ix|x)$/;

/** A part between hyphens, slashes and brackets. */
function casePart(part: string): string {
  if (/[A-Z]/.test(part) || /^\d+i$/.test(part)) return part;
  const letters = part.replace(/[^\p{L}]/gu, '');
  const isCode = /\d/.test(part) || !/[aeiouy]/.test(letters) || (letters.length <= 2 && !SMALL_WORDS.has(letters));
  // `st.` has no vowel either, but its full stop says that it is an abbreviated word.
  if ((isCode && !part.endsWith('.')) || ROMAN.test(part)) return part.toUpperCase();
  return part.replace(/\p{L}/u, (first) => first.toUpperCase());
}

/**
 * The model as one would print it; null when there is none. Spaces are collapsed, and the case follows the name:
 * - a part with a capital in it is its author's own and is kept (`LeSabre`), unless the whole name is in capitals;
 * - a code is upper case: digits in it (`rx-4` -> `RX-4`), no vowel (`ltd` -> `LTD`), one or two letters (`gt` -> `GT`),
 *   a Roman numeral (`iii` -> `III`); a number with an injection `i` is not (`320i`);
 * - any other word gets a capital first letter (`monte carlo` -> `Monte Carlo`, `(diesel)` -> `(Diesel)`).
 */
export function tidyModel(rest: string): string | null {
  const words = rest.replace(/\s+/g, ' ').trim();
  if (words === '') return null;
  const readable = words === words.toUpperCase() ? words.toLowerCase() : words;
  return readable.replace(/[^\s\-/()]+/g, casePart);
}
