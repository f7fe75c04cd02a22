import { join } from 'node:path';
import { loadConfig } from '../../config';

export interface DevFlags {
  readonly port?: string | undefined;
  /** Folder of the database, and of Temporal's. */
  readonly data?: string | undefined;
  readonly payloads?: string | undefined;
}

/** What `dev` itself needs of the settings. */
export interface DevSettings {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly temporalFile: string;
  /** False with the in-process queue, where the API does the work and no Temporal is needed. */
  readonly withTemporal: boolean;
  readonly shutdownGraceMs: number;
  /** The environment of the children: ours, and what was given as options. */
  readonly childEnv: NodeJS.ProcessEnv;
}

/** @throws ConfigError, before anything is started. */
export function devSettings(env: NodeJS.ProcessEnv, { port, data, payloads }: DevFlags): DevSettings {
  const config = loadConfig(env, { port, dataDir: data, payloads });
  return {
    host: config.host,
    port: config.port,
    dataDir: config.dataDir,
    temporalFile: join(config.dataDir, 'temporal.db'),
    withTemporal: config.queue !== 'in-process',
    shutdownGraceMs: config.shutdownGraceMs,
    childEnv: {
      ...env,
      ITEMWISE_DATA: config.dataDir,
      ITEMWISE_PORT: String(config.port),
      ...(config.payloads !== undefined && { ITEMWISE_PAYLOADS: config.payloads }),
    },
  };
}

export function withTemporalEnv(
  env: NodeJS.ProcessEnv,
  temporal: { address: string; namespace: string; uiUrl: string | undefined },
): NodeJS.ProcessEnv {
  return {
    ...env,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...(temporal.uiUrl !== undefined && { TEMPORAL_UI_URL: temporal.uiUrl }),
  };
}
