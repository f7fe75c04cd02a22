/** The Temporal server of a development machine: the one that is named, else one that is started here. */
import { Connection } from '@temporalio/client';
import { findTemporalBinary } from './binary';
import { databaseFile } from './persist';
import type { OnProgress } from './progress';
import { registerSearchAttributes, SEARCH_ATTRIBUTES } from '../queue/activity/search-attributes';
import { DEFAULT_NAMESPACE, startDevServer, type DevServer, type ServerExit } from './server';

export { findTemporalBinary, temporalCacheDir, TemporalUnavailable } from './binary';
export type { BinarySource, FindOptions, TemporalBinary } from './binary';
export { DEV_DYNAMIC_CONFIG } from './dynamic-config';
export { registerSearchAttributes, SEARCH_ATTRIBUTES } from '../queue/activity/search-attributes';
export type { Registration, SearchAttributeName } from '../queue/activity/search-attributes';
export { DEFAULT_NAMESPACE, DEFAULT_PORT, DEFAULT_UI_PORT, DevServerDied, startDevServer } from './server';
export type { DevServer, DevServerOptions, ServerExit } from './server';

/** They are there at the start; this only waits until the server shows them. */
const SEARCH_ATTRIBUTES_MS = 10_000;

export interface EnsureTemporalOptions {
  /** Default `process.env`. Read: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_UI_URL, ITEMWISE_TEMPORAL_CACHE. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Used when free, else a free one is. Default 7233. */
  port?: number | undefined;
  /** Used when free, else a free one is. Default 8233. */
  uiPort?: number | undefined;
  /** A folder or a file that keeps everything across restarts (see persist.ts). Default in memory. */
  persistTo?: string | undefined;
  /** Told what takes long, and what is not as asked for. */
  onProgress?: OnProgress | undefined;
  /** What the server writes is appended here. */
  logFile?: string | undefined;
}

export interface Temporal {
  /** host:port of its gRPC service. */
  address: string;
  uiUrl: string | undefined;
  namespace: string;
  /** Whether TEMPORAL_ADDRESS named it: then it was not started here, and `stop` does nothing. */
  external: boolean;
  stop(): Promise<void>;
  /** Resolves when the server that was started here has ended; undefined when external. */
  exited: Promise<ServerExit> | undefined;
}

/**
 * The server that TEMPORAL_ADDRESS names, else a dev server that is started here and ends with `stop` or with this
 * process. An external one is neither asked nor changed.
 *
 * @throws TemporalUnavailable when there is no binary to start.
 * @throws DevServerDied, Error when the server does not become ready.
 */
export async function ensureTemporal(options: EnsureTemporalOptions = {}): Promise<Temporal> {
  const { env = process.env, onProgress = () => undefined } = options;
  const namespace = env['TEMPORAL_NAMESPACE'] || DEFAULT_NAMESPACE;
  const address = env['TEMPORAL_ADDRESS'];
  if (address) {
    const uiUrl = env['TEMPORAL_UI_URL'] || undefined;
    return { address, uiUrl, namespace, external: true, stop: async () => undefined, exited: undefined };
  }
  const { path } = await findTemporalBinary({ env, onProgress });
  const server = await startDevServer({
    binary: path,
    port: options.port,
    uiPort: options.uiPort,
    dbFile: options.persistTo === undefined ? undefined : await databaseFile(options.persistTo),
    searchAttributes: SEARCH_ATTRIBUTES,
    namespace,
    logFile: options.logFile,
    env,
  });
  const shown = await showSearchAttributes(server);
  if (!shown.ok) onProgress(`search attributes are missing, so runs cannot be found by them: ${shown.reason}`);
  const { uiUrl, stop, exited } = server;
  return { address: server.address, uiUrl, namespace, external: false, stop, exited };
}

async function showSearchAttributes(server: DevServer): Promise<Awaited<ReturnType<typeof registerSearchAttributes>>> {
  const connection = Connection.lazy({ address: server.address });
  try {
    return await registerSearchAttributes(connection, server.namespace, { deadlineMs: SEARCH_ATTRIBUTES_MS });
  } finally {
    await connection.close();
  }
}
