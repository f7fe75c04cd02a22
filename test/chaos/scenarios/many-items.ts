import assert from 'node:assert/strict';
import { Client, Connection } from '@temporalio/client';
import { endedOf, type Chaos, type Scenario } from '../chaos';
import { MemoryWatch } from '../memory-watch';

/** Of the items, one in a hundred fails twice. */
const FAILING = { oneIn: 100, times: 2 };

/** What may come to a run's history after it has asked to roll over: what was in flight then ends in it, events. */
const AFTER_ROLLOVER = 1_000;

export const manyItems: Scenario = {
  name: '300,000 items, one in a hundred failing twice',
  about: 'and a kill -9 of the worker half-way: rollovers, memory flat, the history of each run bounded',
  run: async (chaos) => {
    const rollover = chaos.sized(60, 400);
    await chaos.open({ env: { ITEMWISE_ROLLOVER_EVENTS: String(rollover) }, api: false });
    const { service } = chaos;
    const api = await service.startApi();
    const worker = await service.startWorker();
    const items = chaos.sized(20_000, 300_000);
    const inputs = Array.from({ length: items }, (_, index) => ({
      order: `o${index}`,
      fails: index % FAILING.oneIn === 0 ? FAILING.times : 0,
    }));
    const { id } = await service.submit('test.tick', inputs);
    const memory = new MemoryWatch({ api: () => api.pid, worker: () => worker.workerPid });
    const half = await service.until(id, (job) => endedOf(job) >= items / 2, 300_000);
    assert.equal(half.finishedAt, null);
    worker.crash();
    const job = await service.ended(id, 300_000);
    memory.stop();
    assert.equal(job.counts.succeeded, items);
    const failures = (items / FAILING.oneIn) * FAILING.times;
    assert(job.statement!.attempts <= items + failures, `${job.statement!.attempts} attempts`);
    const events = await eventsOfRuns(chaos, id);
    assert(events.length >= 2, 'it rolled over');
    assert(Math.max(...events) <= rollover + AFTER_ROLLOVER, `events of its runs: ${events.join(', ')}`);
    memory.assertFlat();
    return {
      faults: 1,
      jobs: [id],
      note: `${events.length} runs of at most ${Math.max(...events)} events; ${memory.figures()}`,
    };
  },
};

async function eventsOfRuns({ service }: Chaos, workflowId: string): Promise<number[]> {
  const connection = await Connection.connect({ address: service.temporalAddress! });
  try {
    const client = new Client({ connection });
    const events: number[] = [];
    for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
      events.push((await client.workflow.getHandle(workflowId, runId).describe()).historyLength);
    }
    return events;
  } finally {
    await connection.close();
  }
}
