import assert from 'node:assert/strict';
import { endedOf, type Chaos, type Facts, type Scenario } from '../chaos';
import { Killer, Progress } from '../killer';

/** Longest that a job may take once it is left alone, ms: suspects run one by one. */
const TO_THE_END_MS = 300_000;

export const killOnce: Scenario = {
  name: 'kill the worker once',
  about: 'kill -9 of a worker with all that belongs to it, at a moment of the seed; another is started',
  run: async (chaos) => {
    await chaos.open();
    const killer = new Killer(chaos);
    await killer.start();
    const items = chaos.sized(100, 1_000);
    const id = await chaos.submitOrders(items, [200, chaos.sized(800, 2_000)]);
    const at = chaos.between(items * 0.2, items * 0.7);
    await chaos.service.until(id, (job) => endedOf(job) >= at);
    await killer.killWhole();
    const job = await chaos.service.ended(id, TO_THE_END_MS);
    assert.equal(job.statement!.attempts, items, 'a kill costs nobody an attempt');
    assert.equal(job.state, 'succeeded');
    return { faults: 1, jobs: [id] };
  },
};

interface Rhythm {
  readonly everyMs: number;
  readonly forMs: number;
  readonly items: number;
  /** Shortest and longest item, ms. */
  readonly length: readonly [number, number];
  /** Items in flight: so many are suspects when the worker proper is killed, and run one by one. */
  readonly concurrency: number;
}

/** Kills in a rhythm, looking at the job all the while; then leaves it alone to its end. */
async function killInRhythm(chaos: Chaos, { everyMs, forMs, items, length, concurrency }: Rhythm): Promise<Facts> {
  await chaos.open();
  const killer = new Killer(chaos);
  await killer.start();
  const { id } = await chaos.service.submit('test.order', chaos.orderInputs(items, length), { concurrency });
  const progress = new Progress(chaos, id);
  const from = Date.now();
  for (let round = 1; Date.now() - from < forMs; round++) {
    const until = from + round * everyMs;
    await chaos.until('the next kill', async () => (await progress.look()).finishedAt !== null || Date.now() >= until);
    if ((await progress.look()).finishedAt !== null) break;
    await progress.lookClosely();
    await killer.kill();
  }
  const job = await chaos.service.ended(id, TO_THE_END_MS);
  await progress.lookClosely();
  assert.equal(job.counts.failed, 0, 'no kill makes an item fail');
  const { deadLetters } = await chaos.service.get<{ deadLetters: unknown[] }>('/v1/dead-letters');
  assert.deepEqual(deadLetters, [], 'no dead letters');
  assert.equal(job.state, 'succeeded');
  return { faults: killer.kills, jobs: [id], note: `${job.statement!.attempts - items} attempts counted for kills` };
}

export const killEvery15s: Scenario = {
  name: 'kill the worker every 15 s',
  about: 'kill -9 of the worker proper or of all of it, as the seed has it, with items of 0.2 to 2 s: no dead letters',
  run: (chaos) =>
    killInRhythm(
      chaos,
      chaos.sized(
        { everyMs: 3_000, forMs: 7_000, items: 120, length: [200, 1_000], concurrency: 10 },
        { everyMs: 15_000, forMs: 120_000, items: 1_200, length: [200, 2_000], concurrency: 20 },
      ),
    ),
};

export const killEvery3s: Scenario = {
  name: 'kill the worker every 3 s',
  about: 'the same, hardly leaving it time to start: progress is monotone and no outcome changes',
  run: (chaos) =>
    killInRhythm(
      chaos,
      chaos.sized(
        { everyMs: 1_500, forMs: 5_000, items: 60, length: [200, 800], concurrency: 10 },
        { everyMs: 3_000, forMs: 60_000, items: 300, length: [200, 2_000], concurrency: 10 },
      ),
    ),
};
