import { openRuntime } from '../../runtime';
import { runQuarantine } from '../../worker/quarantine';
import { watchThisProcess } from '../../worker/watch-this-process';
import { configOf, type WatchedOptions } from './options';

/** The child of a worker that runs items which may have killed one. */
export async function runQuarantineProcess({ traces, ...options }: WatchedOptions): Promise<void> {
  const config = configOf(options);
  const runtime = await openRuntime(config, 'worker');
  watchThisProcess(traces, config, runtime.log);
  await runQuarantine(runtime);
  await runtime.store.close();
}
