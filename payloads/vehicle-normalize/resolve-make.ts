import { MAKES, type Make } from './makes';
import { MODELS } from './models';
import { fold, plain, slips } from './spelling';

/** A name split into its make and the rest. */
export interface ResolvedMake {
  make: Make;
  /** The words of the name that stood for the make, as written. */
  from: string;
  /** What follows the make; empty when nothing does. */
  rest: string;
  /** Whether `from` was a nickname or a misspelling. Case and diacritics are neither. */
  corrected: boolean;
}

/** Every name and nickname in folded form, with the makes that bear it. */
export const SPELLINGS: ReadonlyMap<string, readonly Make[]> = (() => {
  const spellings = new Map<string, Make[]>();
  for (const [make, nicknames] of Object.entries(MAKES) as [Make, readonly string[]][]) {
    for (const spelling of [make, ...nicknames].map(fold)) {
      spellings.set(spelling, [...(spellings.get(spelling) ?? []), make]);
    }
  }
  return spellings;
})();

const wordCount = (folded: string): number => folded.split(' ').length;
const MOST_WORDS = Math.max(...[...SPELLINGS.keys()].map(wordCount));

/**
 * How many slips a spelling forgives. Four letters forgive none: one slip is a quarter of the word, and `ford`, `fort`
 * and `lord` are different words.
 */
function forgiven(spelling: string): number {
  if (spelling.length < 5) return 0;
  return spelling.length < 8 ? 1 : 2;
}

const only = (makes: Iterable<Make>): Make | undefined => {
  const [make, ...others] = new Set(makes);
  return others.length === 0 ? make : undefined;
};

const exactly = (written: string): Make | undefined => only(SPELLINGS.get(written) ?? []);

/**
 * The make of the closest spelling, if that forgives the slips. None when two makes are equally close, even when one
 * forgives nothing (`mada`: Mazda, or Lada?), nor for a known model (`cherry` is no slip of Chery).
 */
function closely(written: string): Make | undefined {
  if (MODELS.has(written)) return undefined;
  let fewest = Infinity;
  let closest: { spelling: string; makes: readonly Make[] }[] = [];
  for (const [spelling, makes] of SPELLINGS) {
    // The same number of words, or a one-letter model would be swallowed as a slip.
    if (wordCount(spelling) !== wordCount(written)) continue;
    const count = slips(written, spelling);
    if (count < fewest) closest = [];
    fewest = Math.min(fewest, count);
    if (count === fewest) closest.push({ spelling, makes });
  }
  const isForgiven = closest.some(({ spelling }) => fewest <= forgiven(spelling));
  return isForgiven ? only(closest.flatMap(({ makes }) => makes)) : undefined;
}

/**
 * The make with which a name begins: its name or a nickname, else the one spelling close enough to be meant. The
 * longest match wins (`land rover` over `rover`). Undefined when there is none, or more than one.
 */
export function resolveMake(name: string): ResolvedMake | undefined {
  const words = name.trim().split(/\s+/);
  for (const find of [exactly, closely]) {
    for (let count = Math.min(MOST_WORDS, words.length); count > 0; count--) {
      const from = words.slice(0, count).join(' ');
      const make = find(fold(from));
      if (make) return { make, from, rest: words.slice(count).join(' '), corrected: plain(from) !== plain(make) };
    }
  }
  return undefined;
}
