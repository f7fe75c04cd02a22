import { randomUUID } from 'node:crypto';
import { systemClock, type ActivityDeps } from '../activities';
import type { Quarantine, StartedLog } from '../activities/deps';
import { readPayloadConfigs, type Runtime } from '../runtime';

/** What a worker can do about items that kill their process; only one that has a supervisor can. */
export interface Isolation {
  readonly started: StartedLog;
  readonly quarantine: Quarantine;
}

/**
 * What the activities stand on in every process that runs items.
 * @throws ConfigError when a payload's settings are wrong.
 */
export function activityDeps(
  { config, store, registry, log, incarnation }: Runtime,
  parts: { readonly draining: AbortSignal; readonly isolation?: Isolation | undefined },
): ActivityDeps {
  return {
    store,
    registry,
    configOf: readPayloadConfigs(registry, process.env),
    clock: systemClock,
    random: Math.random,
    newId: randomUUID,
    log,
    workerId: incarnation,
    draining: parts.draining,
    settings: {
      unitBudgetMs: config.unitBudgetMs,
      heartbeatMs: Math.max(200, Math.floor(config.heartbeatTimeoutMs / 5)),
      shutdownGraceMs: config.shutdownGraceMs,
    },
    ...parts.isolation,
  };
}
