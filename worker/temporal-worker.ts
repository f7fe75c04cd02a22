import { Runtime as TemporalRuntime, Worker, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';
import type { Activities } from '../activities';
import { DEFAULT_POOL, taskQueueName } from '../model/names';
import { openTemporalQueue, type Logger, type Runtime } from '../runtime';
import { startSweeper, temporalActivities } from '../queue';
import type { Isolation } from './activity-deps';
import { workflowBundle } from './bundle';
import { connectToTemporal } from './connect';
import { openWorkerHost, type WorkerHost } from './host';

/** Heartbeats reach the server at most this much apart, ms: they carry the news of a stop. */
const HEARTBEAT_THROTTLE_MS = 1_000;

/** A workflow task of a worker that has died goes to another one after this long, ms. */
const STICKY_MS = 2_000;

export interface RunningWorker {
  readonly taskQueue: string;
  /** Resolves when it has stopped; rejects when it cannot go on. */
  readonly done: Promise<void>;
  /** Hands back what is not started, lets running items finish within the grace, and stops. */
  stop(): void;
}

export interface WorkerParts {
  /** Of a worker that has a supervisor. */
  readonly isolation?: Isolation;
  /** Aborted when the worker is no longer wanted: it does not wait for Temporal then. */
  readonly stopping?: AbortSignal;
  /** What a test may bring of its own. */
  readonly bundle?: WorkflowBundleOption;
  readonly wrap?: (activities: Activities) => Activities;
}

/**
 * A worker on Temporal.
 * @throws QueueUnavailable when Temporal cannot be reached in time or has no such namespace; or the reason of `stopping`.
 */
export async function startTemporalWorker(runtime: Runtime, parts: WorkerParts = {}): Promise<RunningWorker> {
  const { config, store, log, incarnation } = runtime;
  installTemporalRuntime(log);
  const connection = await connectToTemporal(runtime, parts.stopping);
  const host = await openWorkerHost(runtime, parts.isolation);
  const activities = parts.wrap?.(host.activities) ?? host.activities;
  const taskQueue = taskQueueName(config.environment, store.id, DEFAULT_POOL);
  const worker = await Worker.create({
    connection,
    namespace: config.temporalNamespace,
    taskQueue,
    identity: incarnation,
    workflowBundle: parts.bundle ?? (await workflowBundle()),
    activities: temporalActivities(activities, Math.max(200, config.heartbeatTimeoutMs / 5)),
    maxConcurrentActivityTaskExecutions: config.maxUnits + 10,
    maxHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    defaultHeartbeatThrottleInterval: HEARTBEAT_THROTTLE_MS,
    stickyQueueScheduleToStartTimeout: STICKY_MS,
    shutdownGraceTime: config.shutdownGraceMs + 5_000,
    shutdownForceTime: config.shutdownGraceMs + 10_000,
  });
  const queue = openTemporalQueue(runtime);
  void queue.prepare();
  const stopSweeping = startSweeper(
    { store, queue, now: Date.now },
    { holder: incarnation, everyMs: config.sweepEveryMs, log },
  );
  const done = worker.run().finally(async () => {
    await stopSweeping();
    await queue.close();
    await host.retire();
    await connection.close();
  });
  return { taskQueue, done, stop: () => stop(worker, host) };
}

function stop(worker: Worker, host: WorkerHost): void {
  host.drain();
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

let installed = false;

/** Temporal's own lines go into ours, and its signal handling away: the process that is the worker decides. */
function installTemporalRuntime(log: Logger): void {
  if (installed) return;
  installed = true;
  const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;
  TemporalRuntime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => log[levels[level]]({ temporal: meta }, message)),
  });
}
