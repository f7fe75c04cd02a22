import { play, seedOf } from './play';
import { manyItems } from './scenarios/many-items';

jest.setTimeout(180_000);

const seed = seedOf(process.env);

describe(`a large job with seed ${seed}`, () => {
  it('C10: a history without bounds: thousands of items, some failing, a worker killed, and every run is short', async () => {
    const temporalAddress = process.env['TEST_TEMPORAL_ADDRESS']!;
    const { account } = await play(manyItems, { seed, long: false, temporalAddress });
    expect(account).toMatchObject({ items: 20_000, outcomes: { succeeded: 20_000 } });
  });
});
