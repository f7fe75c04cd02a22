import { createActivities, type Activities } from '../activities';
import { DEFAULT_POOL } from '../model/names';
import type { Runtime } from '../runtime';
import { activityDeps, type Isolation } from './activity-deps';
import { watchLoopDelay } from './loop-delay';

/** A worker's row is written this often, ms; `WORKER_SILENT_MS` without it is death. */
const BEAT_MS = 2_000;

/** The part of a worker that does not depend on the queue: its activities, its row, and how it winds down. */
export interface WorkerHost {
  readonly activities: Activities;
  /** From now on nothing new is started, and units hand back what they have not started. */
  drain(): void;
  /** Removes the worker's row. */
  retire(): Promise<void>;
}

/**
 * Makes a worker able to work.
 * @throws ConfigError when a payload's settings are wrong.
 */
export async function openWorkerHost(runtime: Runtime, isolation?: Isolation): Promise<WorkerHost> {
  const { config, store, registry, log, incarnation } = runtime;
  const draining = new AbortController();
  const activities = createActivities(activityDeps(runtime, { draining: draining.signal, isolation }));
  const startedAt = Date.now();
  const loopDelay = watchLoopDelay();
  const beat = (): Promise<void> =>
    store.beat({
      id: incarnation,
      pool: DEFAULT_POOL,
      capabilities: registry.list().map((payload) => payload.capability),
      ceilings: { units: config.maxUnits },
      memoryMb: Math.round(process.memoryUsage.rss() / 1_000_000),
      loopDelayMs: loopDelay.take(),
      startedAt,
    });
  await beat();
  const timer = setInterval(() => {
    beat().catch((error: unknown) => log.warn({ err: error }, 'cannot write the row that says this worker is alive'));
  }, BEAT_MS).unref();
  return {
    activities,
    drain: () => draining.abort(),
    retire: async () => {
      clearInterval(timer);
      loopDelay.stop();
      await store
        .retire(incarnation)
        .catch((error: unknown) => log.warn({ err: error }, 'cannot remove the row of this worker'));
    },
  };
}
