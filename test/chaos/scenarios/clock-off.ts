import assert from 'node:assert/strict';
import type { Chaos, Scenario } from '../chaos';
import { byFaketime, byPreload } from '../skewed-clock';

const TEN_MINUTES_MS = 600_000;

/** A job whose every item is tried again once ends within this, ms, whatever the clock of its worker shows. */
const PROMPT_MS = 60_000;

/** No retry comes sooner after a failure than this, ms. */
const LEAST_BACKOFF_MS = 500;

export const clockOff: Scenario = {
  name: 'the clock of a worker is ten minutes off',
  about: 'ahead, then behind, alone with items that are tried again; then beside a worker whose clock is right',
  run: async (chaos) => {
    const clock = (chaos.long && byFaketime(chaos)) || byPreload;
    await chaos.open();
    const jobs: string[] = [];
    const took: number[] = [];
    const mixed = chaos.random() < 0.5;
    for (const skewMs of [TEN_MINUTES_MS, -TEN_MINUTES_MS]) {
      const wrong = await chaos.service.startWorker(clock.env(skewMs));
      const alone = await withRetries(chaos);
      jobs.push(alone.id);
      took.push(alone.ms);
      if (chaos.long || mixed === skewMs > 0) jobs.push(await besideAnother(chaos));
      wrong.kill('SIGTERM');
      await wrong.exited;
    }
    const note = `by ${clock.how}; jobs with retries took ${took.map((ms) => `${Math.round(ms / 1_000)} s`).join(' and ')}`;
    return { faults: took.length, jobs, note };
  },
};

/** Alone, a worker with a wrong clock tries again neither early nor minutes late. */
async function withRetries(chaos: Chaos): Promise<{ id: string; ms: number }> {
  const { service } = chaos;
  const from = Date.now();
  const id = await chaos.submitOrders(chaos.sized(20, 500), [50, 100], { fails: 1 });
  const job = await service.ended(id, PROMPT_MS);
  const ms = Date.now() - from;
  assert.equal(job.state, 'succeeded');
  assert.equal(job.statement!.attempts, 2 * job.items);
  assert(ms >= LEAST_BACKOFF_MS, `tried again and ended in ${ms} ms`);
  return { id, ms };
}

/** Two workers that do not agree about the time take turns with the units of a job, and the right one dies. */
async function besideAnother(chaos: Chaos): Promise<string> {
  const { service } = chaos;
  const right = await service.startWorker();
  const items = chaos.sized(100, 1_500);
  const id = await chaos.submitOrders(items, [100, chaos.sized(300, 1_000)]);
  await service.until(id, (job) => job.counts.succeeded >= items / 4);
  right.kill('SIGKILL');
  await right.exited;
  const job = await service.ended(id, 300_000);
  assert.equal(job.state, 'succeeded');
  assert.equal(job.statement!.attempts, items);
  return id;
}
