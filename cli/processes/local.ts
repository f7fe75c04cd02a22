import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ItemJson, JobJson } from '../../api';
import { startApi } from '../../api';
import { openRuntime } from '../../runtime';
import { startInProcessWorker } from '../../worker/in-process';
import { configOf } from './options';

/** An API with its worker in this process, on a free port and the in-process queue: what `itemwise run --local` uses. */
export interface LocalService {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a service that lives as long as this process.
 * @param options.data folder of the store; a temporary one, removed at the end, when it is not given.
 */
export async function startLocalService(options: {
  payloads?: string | undefined;
  data?: string | undefined;
}): Promise<LocalService> {
  const temporary = options.data === undefined ? mkdtempSync(join(tmpdir(), 'itemwise-')) : undefined;
  const config = configOf(
    { port: '0', payloads: options.payloads, data: options.data ?? temporary },
    { queue: 'in-process', logLevel: process.env['ITEMWISE_LOG_LEVEL'] ?? 'warn', forceInProcess: '1' },
  );
  const runtime = await openRuntime(config, 'worker');
  const worker = await startInProcessWorker(runtime);
  const api = await startApi(runtime, worker.queue);
  return {
    url: api.url,
    stop: async () => {
      await api.stop();
      await worker.stop();
      await runtime.store.close();
      if (temporary) rmSync(temporary, { recursive: true, force: true });
    },
  };
}

export type { ItemJson, JobJson };
