import type { Make } from './makes';
import { MODELS } from './models';
import { SPELLINGS } from './resolve-make';
import { farthest, fold, slips } from './spelling';

/** A make that may be meant, and why, in words for the reviewer. */
export interface Candidate {
  make: Make;
  why: string;
}

const MOST_CANDIDATES = 5;

/** Makes and models that a name mentions, word by word and in pairs. */
function* mentioned(words: readonly string[]): Generator<Candidate> {
  const phrases = [...words, ...words.slice(1).map((word, i) => `${words[i]} ${word}`)];
  for (const phrase of phrases) {
    for (const make of SPELLINGS.get(phrase) ?? []) yield { make, why: `the name has "${phrase}"` };
    for (const make of MODELS.get(phrase) ?? []) yield { make, why: `built a "${phrase}"` };
  }
}

/** Makes whose spelling is near the first word: farther off than resolve-make dares. */
function near(first: string): Candidate[] {
  const found: (Candidate & { count: number })[] = [];
  for (const [spelling, makes] of SPELLINGS) {
    const count = slips(first, spelling);
    if (count === 0 || count > farthest(spelling)) continue;
    for (const make of makes) {
      found.push({ make, count, why: `"${spelling}" is ${count} ${count === 1 ? 'slip' : 'slips'} from "${first}"` });
    }
  }
  return found.sort((a, b) => a.count - b.count).map(({ make, why }) => ({ make, why }));
}

/** What a reviewer may choose from when a name has no recognisable make: likeliest first, at most five, maybe none. */
export function candidates(name: string): Candidate[] {
  const words = fold(name).split(' ');
  const byMake = new Map<Make, Candidate>();
  for (const candidate of [...mentioned(words), ...near(words[0] ?? '')]) {
    if (!byMake.has(candidate.make)) byMake.set(candidate.make, candidate);
  }
  return [...byMake.values()].slice(0, MOST_CANDIDATES);
}
