import { openRuntime } from '../../runtime';
import { startTemporalWorker } from '../../worker/temporal-worker';
import { announce, configOf, type ProcessOptions } from './options';
import { untilSignal } from './until-signal';

/** A worker as a process: works until it is told to stop. */
export async function runWorker(options: ProcessOptions): Promise<void> {
  const told = untilSignal();
  const config = configOf(options);
  if (config.queue === 'in-process') {
    throw new Error('with ITEMWISE_QUEUE=in-process the API is the worker too: there is no worker to start');
  }
  const runtime = await openRuntime(config, 'worker');
  const worker = await startTemporalWorker(runtime);
  runtime.log.info({ taskQueue: worker.taskQueue }, 'the worker works');
  announce({ working: worker.taskQueue });
  void told.then((signal) => {
    runtime.log.info({ signal }, 'the worker stops');
    worker.stop();
  });
  await worker.done;
  await runtime.store.close();
}
