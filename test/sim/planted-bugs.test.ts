import type { Bug } from './bug';
import { BUGS } from './bugs';
import { runSeed } from './run-seed';

/** A planted bug is to be found within this many seeds. */
const WITHIN = 1_000;

/**
 * How many seeds it took to find each, from the first seed on. That seed is tried first, so that a run of the tests takes
 * seconds; where the product has changed so much that it does not show the bug any more, the hunt begins anew.
 */
const TOOK: Readonly<Record<string, number>> = {
  'the fence is not checked when outcomes are written': 6,
  'outcomes are flushed before their usage': 30,
  'a retry forgets its count': 3,
  'a deferral is counted as an attempt': 1,
  'a second outcome overwrites the first': 57,
  'the answer to a wait is not stored': 3,
  'a call that was made before is made again': 1,
  'an intent is not stored before its call': 1,
  'the result of a call is not kept': 1,
  'a fenced delivery starts calls': 18,
  'the row of a cancel is ignored': 105,
  'a cancel forgets what is waited for at vendors': 33,
  'a cancel skips items with a paid call open': 23,
  'a lost unit is not closed': 20,
  'parked items are forgotten': 3,
  'an item gets an attempt more than it may have': 1,
  'a submit that is repeated is another job': 165,
};

/** The rule that the bug breaks in the seed; undefined where it breaks none, or the seed fails without it too. */
async function broken(bug: Bug, seed: number): Promise<string | undefined> {
  const [violation] = (await runSeed(seed, { bug })).violations;
  if (!violation || (await runSeed(seed)).violations.length > 0) return undefined;
  return violation.rule;
}

async function hunt(bug: Bug): Promise<string> {
  const took = TOOK[bug.name];
  const known = took === undefined ? undefined : await broken(bug, took);
  if (known !== undefined) return `${took} seeds: ${known}`;
  for (let seed = 1; seed <= WITHIN; seed++) {
    const rule = await broken(bug, seed);
    if (rule !== undefined) return `${seed} seeds, where it once took ${took ?? 'none'}: ${rule}`;
  }
  throw new Error(`${WITHIN} seeds do not find it`);
}

describe('a planted bug is found', () => {
  it.each(BUGS.map((bug) => [bug.name, bug] as const))(
    '%s',
    async (_, bug) => expect(await hunt(bug)).toMatch(/ seeds/),
    300_000,
  );
});
