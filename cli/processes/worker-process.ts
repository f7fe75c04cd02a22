import { toErrorInfo } from '../../model/error-info';
import { openRuntime } from '../../runtime';
import { openIsolation } from '../../worker/isolation';
import { startTemporalWorker, type RunningWorker } from '../../worker/temporal-worker';
import { removeTraces, writeReason } from '../../worker/traces';
import { watchThisProcess } from '../../worker/watch-this-process';
import { tellWorking } from '../../worker/working';
import { commandOf, configOf, type WatchedOptions } from './options';
import { untilToldOrAlone } from './until-signal';

/** The worker proper, the child of a supervisor: works until it is told to stop, or the supervisor is gone. */
export async function runWorkerProcess({ traces, ...options }: WatchedOptions): Promise<void> {
  const stopping = new AbortController();
  const told = untilToldOrAlone();
  void told.then(() => stopping.abort());
  const config = configOf(options);
  const runtime = await openRuntime(config, 'worker');
  const { log, store } = runtime;
  watchThisProcess(traces, config, log);
  const isolation = openIsolation(runtime, traces, commandOf('quarantine-process', options));
  let worker: RunningWorker | undefined;
  try {
    worker = await startTemporalWorker(runtime, { isolation, stopping: stopping.signal });
    log.info({ taskQueue: worker.taskQueue }, 'the worker works');
    tellWorking(worker.taskQueue);
    const { stop, done } = worker;
    void told.then((why) => {
      log.info({ why }, 'the worker stops');
      stop();
    });
    await done;
  } catch (error) {
    if (stopping.signal.aborted && !worker) return;
    writeReason(traces, toErrorInfo(error));
    throw error;
  } finally {
    isolation.close();
    await store.close();
    if (process.connected) process.disconnect();
    // Nobody else is there to do it.
    else removeTraces(traces);
  }
}
