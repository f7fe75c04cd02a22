/**
 * `npm run bench:waits [-- --items N --checks N --every MS]`: many items that wait for a vendor, each asked about many
 * times. On the in-process queue in skipped time, 30 s apart; on Temporal with the interval scaled down, where the
 * history events of the job's workflow are counted.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { ensureTemporal } from '../temporal-dev';
import { Product } from './product';
import { waitInProcess } from './waits-in-process';

/** Events and units of all runs of a job's workflow. */
async function countEvents(address: string, id: string): Promise<{ events: number; units: number; runs: number }> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  let [events, units, runs] = [0, 0, 0];
  for await (const run of client.workflow.list({ query: `WorkflowId = '${id}'` })) {
    const history = await client.workflow.getHandle(id, run.runId).fetchHistory();
    runs++;
    for (const event of history.events ?? []) {
      events++;
      if (event.activityTaskScheduledEventAttributes?.activityType?.name === 'runUnit') units++;
    }
  }
  await connection.close();
  return { events, units, runs };
}

async function waitOnTemporal(items: number, checks: number, everyMs: number): Promise<object> {
  const note = (line: string): void => void process.stderr.write(`${line}\n`);
  const temporal = await ensureTemporal({ env: { ...process.env, TEMPORAL_ADDRESS: '' }, onProgress: note });
  const product = await Product.open(temporal.address, {
    ITEMWISE_PAYLOADS: join(__dirname, 'wait-payload.ts'),
    ITEMWISE_BENCH_CHECKS: String(checks),
    ITEMWISE_BENCH_EVERY: String(everyMs),
  });
  try {
    const { id, totalMs } = await product.run(items, 'test.wait@1');
    const { events, units, runs } = await countEvents(temporal.address, id);
    return {
      queue: 'activity',
      items,
      checks,
      seconds: Math.round(totalMs / 100) / 10,
      checksPerSecond: Math.round((items * checks * 1_000) / totalMs),
      units,
      events,
      eventsPerUnit: Math.round((events / units) * 100) / 100,
      runs,
      rssWorkerMb: product.worker.peakRssMb(),
    };
  } finally {
    await product.close();
    await temporal.stop();
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      items: { type: 'string', default: '50000' },
      checks: { type: 'string', default: '120' },
      every: { type: 'string', default: '1000' },
    },
  });
  const [items, checks, every] = [Number(values.items), Number(values.checks), Number(values.every)];
  process.stdout.write(`${JSON.stringify(await waitInProcess(items, checks))}\n`);
  process.stdout.write(`${JSON.stringify(await waitOnTemporal(items, checks, every))}\n`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
