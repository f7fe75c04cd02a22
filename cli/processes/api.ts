import { setTimeout as sleep } from 'node:timers/promises';
import { startApi } from '../../api';
import { startSweeper, type JobQueue } from '../../queue';
import { openRuntime, openTemporalQueue, type Runtime } from '../../runtime';
import { startInProcessWorker } from '../../worker/in-process';
import { announce, configOf, type ProcessOptions } from './options';
import { untilSignal } from './until-signal';

/** The API does not wait longer than this for Temporal before it listens, ms: it can take jobs without. */
const PREPARE_MS = 3_000;

/** The API as a process: listens until it is told to stop. With the in-process queue it is the worker too. */
export async function runApi(options: ProcessOptions): Promise<void> {
  const told = untilSignal();
  const runtime = await openRuntime(configOf(options), 'api');
  const { queue, stop } =
    runtime.config.queue === 'in-process' ? await startInProcessWorker(runtime) : await onTemporal(runtime);
  const api = await startApi(runtime, queue);
  runtime.log.info({ url: api.url, queue: queue.kind }, 'the API listens');
  announce({ listening: api.url });
  const signal = await told;
  runtime.log.info({ signal }, 'the API stops');
  await api.stop();
  await stop();
  await runtime.store.close();
}

async function onTemporal(runtime: Runtime): Promise<{ queue: JobQueue; stop: () => Promise<void> }> {
  const { store, config, log, incarnation } = runtime;
  const queue = openTemporalQueue(runtime);
  await Promise.race([queue.prepare(), sleep(PREPARE_MS)]);
  const stopSweeping = startSweeper(
    { store, queue, now: Date.now },
    { holder: incarnation, everyMs: config.sweepEveryMs, log },
  );
  return {
    queue,
    stop: async () => {
      await stopSweeping();
      await queue.close();
    },
  };
}
