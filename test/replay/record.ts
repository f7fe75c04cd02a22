/**
 * Records the histories that `replay.test.ts` replays: `npm run record-histories`. Run it when a workflow changed
 * behind a patch; keep the older files, they are jobs that still run somewhere.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { gated, scripted, type Act } from '../support/payloads';
import { slowVendor } from '../support/slow-vendor';
import * as sets from '../../model/index-set';
import { createRig, itemsOf, signal, type Rig } from '../support/rig';
import { withTemporal } from '../support/temporal';
import globalSetup from '../support/global-setup';
import globalTeardown from '../support/global-teardown';

/** Named by the release of the workflow that made them. */
const FOLDER = join(__dirname, 'histories', 'v3');

/** A job with retries, deferrals, reviews and rejects. */
async function retries(): Promise<[Rig, string]> {
  const rig = await createRig({ queue: 'activity', payloads: [scripted().payload] });
  const acts: Act[][] = [['ok'], ['fail', 'ok'], ['fail', 'fail', 'fail'], ['defer', 'ok'], ['reject'], ['review']];
  const { id } = await rig.submit(
    'test.script',
    itemsOf(120, (index) => ({ acts: acts[index % acts.length] })),
  );
  await rig.ended(id);
  return [rig, id];
}

/** A job that is ended while ten of its items run. */
async function endedBy(end: (rig: Rig, id: string) => Promise<unknown>): Promise<[Rig, string]> {
  const gate = gated({ concurrency: 10 });
  const rig = await createRig({ queue: 'activity', payloads: [gate.payload] });
  const started = signal();
  gate.onStart = () => gate.started.length === 10 && started.resolve();
  const { id } = await rig.submit('test.gate', itemsOf(60));
  await started.promise;
  await end(rig, id);
  await rig.ended(id);
  return [rig, id];
}

/** Cancelled while items run, after a pause. */
const cancelled = (): Promise<[Rig, string]> =>
  endedBy(async (rig, id) => {
    for (const act of ['pause', 'resume', 'cancel']) await rig.post(`/v1/jobs/${id}/${act}`);
  });

/** Cancelled in Temporal itself, not through the API. */
const cancelledInTemporal = (): Promise<[Rig, string]> =>
  endedBy((_, id) => withTemporal((client) => client.workflow.getHandle(id).cancel()));

/** A job whose units are lost and that rolls over several times. */
async function rollover(): Promise<[Rig, string]> {
  const rig = await createRig({
    queue: 'activity',
    payloads: [scripted().payload],
    env: { ITEMWISE_ROLLOVER_EVENTS: '60' },
    wrap: (activities) => ({
      ...activities,
      runUnit: async (input, delivery) => {
        const result = await activities.runUnit(input, delivery);
        if (input.seq % 7 === 0) throw new Error('the delivery died');
        return result;
      },
    }),
  });
  const { id } = await rig.submit(
    'test.script',
    itemsOf(400, (index) => ({ acts: index % 4 ? ['ok'] : ['fail', 'ok'] })),
    { options: { concurrency: 2 } },
  );
  await rig.ended(id);
  return [rig, id];
}

/** A job whose items wait, with a ceiling on how many. */
async function waits(): Promise<[Rig, string]> {
  const vendor = slowVendor({ answersAfter: 2, maxOpen: 50 });
  const rig = await createRig({ queue: 'activity', payloads: [vendor.payload] });
  const { id } = await rig.submit('test.wait', itemsOf(120));
  await rig.ended(id);
  return [rig, id];
}

/** A job some of whose items are suspected of having killed a worker, and are run in quarantine. */
async function suspects(): Promise<[Rig, string]> {
  const rig = await createRig({
    queue: 'activity',
    payloads: [scripted().payload],
    wrap: (activities) => ({
      ...activities,
      runUnit: async (input, delivery) => {
        if (input.seq !== 2) return activities.runUnit(input, delivery);
        const started = { jobNo: input.jobNo, generation: input.generation, seq: input.seq };
        const indexes = [...sets.indexes(sets.decode(input.set))].slice(0, 3);
        const why = { code: 'killed', message: 'its process was killed' };
        await rig.store.suspect(
          indexes.map((index) => ({ ...started, index })),
          why,
        );
        throw new Error('the delivery died');
      },
    }),
  });
  const { id } = await rig.submit('test.script', itemsOf(60), { options: { concurrency: 4 } });
  await rig.ended(id);
  return [rig, id];
}

/** Where a history was recorded is nobody's business: no host, process or path. */
function anonymous(key: string, value: unknown): unknown {
  if (key === 'stackTrace') return '';
  return key === 'identity' ? 'itemwise' : value;
}

/** Every run of the job's workflow, oldest first: a rollover starts another run under the same id. */
async function save(client: Client, name: string, id: string): Promise<void> {
  let no = 0;
  for await (const run of client.workflow.list({ query: `WorkflowId = '${id}'` })) {
    const history = await client.workflow.getHandle(id, run.runId).fetchHistory();
    const plain = JSON.parse(historyToJSON(history), anonymous) as object;
    writeFileSync(join(FOLDER, `${name}-${++no}.json`), `${JSON.stringify(plain)}\n`);
  }
  if (no === 0) throw new Error(`the server shows no run of ${id}`);
}

async function main(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  await globalSetup();
  const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
  const client = new Client({ connection });
  try {
    for (const [name, make] of Object.entries({ retries, cancelled, cancelledInTemporal, rollover, waits, suspects })) {
      const [rig, id] = await make();
      // The store shows the end a moment before the workflow has completed.
      await client.workflow.getHandle(id).result();
      await save(client, name, id);
      await rig.stop();
    }
  } finally {
    await connection.close();
    await globalTeardown();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
