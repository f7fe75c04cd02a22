import { play, seedOf } from './play';
import { killApi } from './scenarios/kill-api';
import { killFinalize } from './scenarios/kill-finalize';
import { killEvery15s, killEvery3s, killOnce } from './scenarios/kill-worker';
import { stopWorker } from './scenarios/stop-worker';
import { vendorDrops } from './scenarios/vendor-drops';

jest.setTimeout(120_000);

const seed = seedOf(process.env);
const SCENARIOS = [killOnce, killEvery15s, killEvery3s, killApi, killFinalize, stopWorker, vendorDrops];

/** The short version of the chaos suite; `npm run test:chaos` is the long one. */
describe(`chaos with seed ${seed}`, () => {
  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS']!;
    const { facts, account } = await play(scenario, { seed, long: false, temporalAddress });
    expect(facts.faults).toBeGreaterThan(0);
    expect(account).toMatchObject({ outcomes: { failed: 0 }, chargedTwice: 0 });
  });
});
