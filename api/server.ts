import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JobQueue } from '../queue';
import type { Runtime } from '../runtime';
import { createApp } from './app';

export interface RunningApi {
  /** Where it listens. */
  readonly url: string;
  /** Takes nothing new, answers what is under way, and stops. */
  stop(): Promise<void>;
}

/** Connections that are still busy this long after a stop are cut, ms. */
const STOP_PATIENCE_MS = 5_000;

/**
 * Starts the API on its address.
 * @throws Error with a remedy when the port is taken.
 */
export async function startApi(runtime: Runtime, queue: JobQueue): Promise<RunningApi> {
  const { config, store } = runtime;
  const closing = new AbortController();
  const app = createApp({
    runtime,
    queue,
    lifecycle: { store, queue, now: Date.now },
    tenant: 'default',
    caller: 'local',
    closing: closing.signal,
  });
  const server = await new Promise<Server>((resolve, reject) => {
    const listening = app.listen(config.port, config.host, (error?: Error) =>
      error ? reject(error) : resolve(listening),
    );
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(`port ${config.port} of ${config.host} is taken: stop what uses it, or set ITEMWISE_PORT`, {
      cause: error,
    });
  });
  // A submit of 300,000 items takes as long as it takes; a silent connection does not.
  server.requestTimeout = 0;
  server.timeout = 120_000;
  // A kept connection that has its last answer would hold the stop up.
  server.on('request', (_request, response: ServerResponse) =>
    response.on('close', () => closing.signal.aborted && setImmediate(() => server.closeIdleConnections())),
  );
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    stop: async () => {
      closing.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), STOP_PATIENCE_MS).unref();
      await closed;
      clearTimeout(cut);
    },
  };
}
