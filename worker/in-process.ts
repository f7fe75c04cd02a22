import type { Activities } from '../activities';
import { InProcessQueue, startSweeper } from '../queue';
import type { Runtime } from '../runtime';
import { openWorkerHost } from './host';

export interface InProcessWorker {
  readonly queue: InProcessQueue;
  stop(): Promise<void>;
}

/** The in-process queue with a worker behind it, in this process. The sweep picks up what an earlier process left. */
export async function startInProcessWorker(
  runtime: Runtime,
  parts: { readonly wrap?: (activities: Activities) => Activities } = {},
): Promise<InProcessWorker> {
  const { config, store, log, incarnation } = runtime;
  const host = await openWorkerHost(runtime);
  const clock = {
    now: Date.now,
    after: (ms: number, work: () => void) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
  };
  const queue = new InProcessQueue({ activities: parts.wrap?.(host.activities) ?? host.activities, clock, log });
  const lifecycle = { store, queue, now: Date.now };
  const stopSweeping = startSweeper(lifecycle, { holder: incarnation, everyMs: config.sweepEveryMs, log });
  return {
    queue,
    stop: async () => {
      await stopSweeping();
      host.drain();
      await queue.close();
      await host.retire();
    },
  };
}
