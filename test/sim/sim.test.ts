import { runSeed, type SeedReport } from './run-seed';

/** Seeds of every run of the tests. More by `npm run sim`. */
const SEEDS = 200;

/** Seeds that failed once, beyond those that every run has; each with what it found. */
const REGRESSIONS: readonly (readonly [seed: number, found: string])[] = [
  [632, 'a wait that came due while its unit of suspects ran was never asked about'],
];

/** Kinds of fault that there are; each is to befall some of the seeds. */
const KINDS = [
  ...['txAway', 'txAnswerLost', 'txSlow', 'crashBefore', 'crashAfter', 'crash', 'freeze', 'drain', 'outage', 'poison'],
  ...['pace crash', 'pace missing', 'pace ended', 'pace terminated', 'api crash', 'queueAway'],
  ...['dropped', 'doubled', 'answerLate', 'answerLost'],
];

/** What a failing seed says, and how to see it again. */
function failure({ seed, violations, trace }: SeedReport): string {
  const broken = violations.map(({ rule, what }) => `${rule}: ${what.slice(0, 500)}`);
  return [`seed ${seed}`, ...broken, ...trace.slice(-30), `npm run sim -- --seeds 1 --from ${seed} --trace`].join('\n');
}

describe('the simulator', () => {
  it('finds every promise kept, whatever fails', async () => {
    const faults = new Set<string>();
    const states = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const report = await runSeed(seed);
      if (report.violations.length > 0) throw new Error(failure(report));
      for (const kind of Object.keys(report.faults)) faults.add(kind);
      for (const state of report.states) states.add(state);
    }
    expect([...faults].sort()).toEqual([...KINDS].sort());
    expect([...states].sort()).toEqual(['cancelled', 'completed_with_errors', 'failed', 'succeeded']);
  }, 300_000);

  it.each([2, 7, 36, 74])(
    'repeats seed %s exactly',
    async (seed) => {
      const [first, second] = [await runSeed(seed), await runSeed(seed)];
      expect(second.hash).toBe(first.hash);
      expect(second.trace).toEqual(first.trace);
    },
    60_000,
  );

  if (REGRESSIONS.length > 0) {
    it.each(REGRESSIONS)('seed %s: %s', async (seed) => {
      const report = await runSeed(seed);
      if (report.violations.length > 0) throw new Error(failure(report));
    });
  }
});
