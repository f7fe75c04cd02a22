import { Chaos, type Scenario } from './chaos';
import { ownTemporal } from './own-temporal';
import { play, seedOf, type Played } from './play';
import { clockOff } from './scenarios/clock-off';
import { diskFull, sqliteLocked, sqliteReadOnly } from './scenarios/store-away';
import { temporalDown, temporalLost } from './scenarios/temporal-away';

jest.setTimeout(120_000);

const seed = seedOf(process.env);

/** What a worker that cannot work has to say and end, from its start, ms. */
const ENDS_WITHIN_MS = 20_000;

/** What the runner stands on goes away for a while; docs/faults.md says what happens. */
describe(`outages with seed ${seed}`, () => {
  const options = { seed, long: false, temporalAddress: process.env['TEST_TEMPORAL_ADDRESS']! };
  const playShort = async (scenario: Scenario): Promise<Played> => {
    const played = await play(scenario, options);
    expect(played.account).toMatchObject({ outcomes: { failed: 0, needs_review: 0 }, chargedTwice: 0 });
    return played;
  };

  it('C37: a write that is not tried again: the database is locked while items end, and no outcome is lost', () =>
    playShort(sqliteLocked));

  it('C37: the database takes no writes: a submit is refused whole, and work goes on when it does', () =>
    playShort(sqliteReadOnly));

  it('the disk is full: submits are refused, units are handed back, and all ends when there is space', () =>
    playShort(diskFull));

  it('C38: Temporal is down in the middle of a job: readiness says so, jobs are taken, and all of them end', () =>
    playShort(temporalDown));

  it('Temporal comes back empty: jobs go on from the store', () => playShort(temporalLost));

  it('the clock of a worker is ten minutes off: what is tried again comes neither early nor minutes late', () =>
    playShort(clockOff));

  describe('C38: a worker that starts', () => {
    let chaos: Chaos;
    beforeEach(() => {
      chaos = new Chaos(options);
    });
    afterEach(() => chaos.close());

    it('before Temporal does waits for it', async () => {
      const temporal = await ownTemporal(chaos, false);
      await chaos.open({ temporalAddress: temporal.address });
      const { service } = chaos;
      const id = await chaos.submitOrders(20, [0, 20]);
      const starting = service.startWorker({ ITEMWISE_TEMPORAL_PATIENCE: '60s' });
      await temporal.start();
      await starting;
      expect(await service.ended(id)).toMatchObject({ state: 'succeeded' });
    });

    it.each([
      ['a wrong address', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, /Temporal at 127\.0\.0\.1:1 .*: check TEMPORAL_ADDRESS/],
      [
        'a host that is none',
        { TEMPORAL_ADDRESS: 'no-such-host.invalid:7233', ITEMWISE_TEMPORAL_PATIENCE: '1s' },
        /check TEMPORAL_ADDRESS/,
      ],
      ['an unknown namespace', { TEMPORAL_NAMESPACE: 'nope' }, /no namespace "nope": check TEMPORAL_NAMESPACE/],
    ])('with %s ends within seconds, saying in a line what to mend', async (_, env, message) => {
      await chaos.open({ api: false });
      const { code, stderr, ms } = await chaos.service.runToEnd('worker', { ...env });
      expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringMatching(message) });
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(ms).toBeLessThan(ENDS_WITHIN_MS);
    });
  });
});
