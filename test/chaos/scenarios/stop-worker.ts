import assert from 'node:assert/strict';
import { endedOf, type Scenario } from '../chaos';

/** After it the units of a stopped worker are with another one, ms: the short setting, and the default. */
const HEARTBEATS = { short: 2_000, long: 10_000 };

export const stopWorker: Scenario = {
  name: 'stop a worker past its heartbeat, and let it go on',
  about: 'SIGSTOP of one of two workers for 2.5 heartbeat time-outs, then SIGCONT: it writes and starts nothing more',
  run: async (chaos) => {
    // What it was about to send when it was stopped it sends when it goes on, whatever was decided in between: that is
    // for the vendor to tell by the key.
    await chaos.open({ vendor: { honoursKeys: true } });
    const { service, vendor } = chaos;
    const first = await service.startWorker();
    await service.startWorker();
    const items = chaos.sized(150, 1_500);
    const id = await chaos.submitOrders(items, [200, chaos.sized(800, 2_000)]);
    const rounds = chaos.sized(1, 3);
    for (let round = 1; round <= rounds; round++) {
      await service.until(id, (job) => endedOf(job) >= (items * round) / (rounds + 3));
      first.crash('SIGSTOP');
      await chaos.last(2.5 * chaos.sized(HEARTBEATS.short, HEARTBEATS.long));
      first.crash('SIGCONT');
    }
    const job = await service.ended(id, 300_000);
    assert.equal(job.state, 'succeeded');
    assert.equal(job.statement!.attempts, items, 'a stop costs nobody an attempt');
    const { repeated } = vendor.ledger;
    return { faults: rounds, jobs: [id], note: `${repeated} calls came again under their key` };
  },
};
