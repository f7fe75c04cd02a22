import assert from 'node:assert/strict';
import { parse } from '../../support/service';
import type { JobJson } from '../../../api';
import { endedOf, type Chaos, type Facts, type Scenario } from '../chaos';
import { ownTemporal } from '../own-temporal';

/** Readiness is to follow Temporal within this time, ms: a call of it has a deadline of 2 s. */
const NOTICED_MS = 10_000;

/** Stops Temporal in the middle of a job. Jobs are taken meanwhile, and all of them end when it is back. */
async function takeAway(chaos: Chaos, { keep, lastsMs }: { keep: boolean; lastsMs: number }): Promise<Facts> {
  const temporal = await ownTemporal(chaos, keep);
  await temporal.start();
  await chaos.open({ temporalAddress: temporal.address });
  const { service } = chaos;
  await service.startWorker();
  const items = chaos.sized(150, 3_000);
  const id = await chaos.submitOrders(items, [200, chaos.sized(600, 2_000)]);
  const at = chaos.between(items * 0.2, items * 0.5);
  await service.until(id, (job) => endedOf(job) >= at);
  const from = Date.now();
  await temporal.stop();
  await chaos.until('readiness is red', async () => (await readiness(chaos)) === 503, NOTICED_MS);
  const answer = await service.send('test.order', chaos.orderInputs(20, [0, 50]));
  assert.equal(answer.status, 202, 'sealed is accepted, Temporal or no Temporal');
  const { id: second } = await parse<JobJson>(answer);
  await chaos.last(lastsMs - (Date.now() - from));
  assert.equal(await readiness(chaos), 503, 'readiness stays red');
  await temporal.start();
  const backAt = Date.now();
  await chaos.until('readiness is green again', async () => (await readiness(chaos)) === 200, NOTICED_MS);
  for (const job of [await service.ended(id, 300_000), await service.ended(second, 120_000)]) {
    assert.equal(job.state, 'succeeded');
    assert.equal(job.statement!.attempts, job.items, 'an outage costs nobody an attempt');
  }
  if (!keep) await wentOn(chaos, id);
  return {
    faults: 1,
    jobs: [id, second],
    note: `all ended ${Math.round((Date.now() - backAt) / 1_000)} s after it was back`,
  };
}

/** A job of which Temporal knows nothing any more goes on from the store, and says so. */
async function wentOn({ service }: Chaos, id: string): Promise<void> {
  const { lines } = await service.get<{ lines: { message: string }[] }>(`/v1/jobs/${id}/log`);
  assert(
    lines.some((line) => line.message.includes('generation 2')),
    'the log says that it was started again',
  );
}

async function readiness({ service }: Chaos): Promise<number> {
  const response = await fetch(`${service.url}/health/ready`);
  await response.text();
  return response.status;
}

export const temporalDown: Scenario = {
  name: 'Temporal stopped, data kept',
  about: 'the Temporal server is stopped in the middle of a job for three minutes, and comes back as it was',
  run: (chaos) => takeAway(chaos, { keep: true, lastsMs: chaos.sized(5_000, 180_000) }),
};

export const temporalLost: Scenario = {
  name: 'Temporal stopped, data lost',
  about: 'the Temporal server is stopped in the middle of a job for a minute, and comes back empty',
  run: (chaos) => takeAway(chaos, { keep: false, lastsMs: chaos.sized(4_000, 60_000) }),
};
