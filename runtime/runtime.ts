import { randomUUID } from 'node:crypto';
import { databaseFile, type Config } from '../config';
import type { Registry } from '../contract';
import { TemporalQueue } from '../queue';
import { openStore, type Store } from '../store';
import { loadRegistry } from './load-registry';
import { createLogger, type Logger } from './logger';

/** What every process of the product stands on. */
export interface Runtime {
  readonly config: Config;
  readonly store: Store;
  readonly registry: Registry;
  readonly log: Logger;
  /** Tells this run of the process from the one before. */
  readonly incarnation: string;
}

/**
 * Opens what a process of the given role needs.
 * @throws StoreUnavailable, or Error when the payloads cannot be loaded.
 */
export async function openRuntime(config: Config, role: 'api' | 'worker'): Promise<Runtime> {
  const registry = await loadRegistry(config.payloads);
  const patienceMs = role === 'api' ? config.apiPatienceMs : config.workerPatienceMs;
  const store = await openStore({ file: databaseFile(config), patienceMs });
  const log = createLogger(role, config.logLevel);
  return { config, store, registry, log, incarnation: `${role}-${randomUUID()}` };
}

/** The Temporal side of the activity queue, for a process that starts and inspects jobs. */
export function openTemporalQueue({ config, store }: Runtime): TemporalQueue {
  return new TemporalQueue({
    address: config.temporalAddress,
    namespace: config.temporalNamespace,
    uiUrl: config.temporalUiUrl,
    environment: config.environment,
    storeId: store.id,
    deadlineMs: config.temporalDeadlineMs,
    heartbeatTimeoutMs: config.heartbeatTimeoutMs,
    unitBudgetMs: config.unitBudgetMs,
    rolloverEvents: config.rolloverEvents ?? null,
  });
}
