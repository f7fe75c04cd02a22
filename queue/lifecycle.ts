import type { JobRecord, Store } from '../store';
import { QueueUnavailable, type JobQueue, type JobStart, type Notice } from './port';

/** A worker whose row is older than this is dead, ms. */
export const WORKER_SILENT_MS = 15_000;

export interface Lifecycle {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly now: () => number;
}

/**
 * Starts a sealed job's workflow.
 * @throws QueueUnavailable; the sweep tries again.
 */
export async function startJob({ store, queue }: Lifecycle, job: JobRecord): Promise<void> {
  await queue.start(toStart(job));
  await store.workflowStarted(job.no, job.generation);
  // What was asked for while the start was under way found nobody to tell.
  const current = await store.jobByNo(job.no);
  if (current?.cancel) await queue.notify(job.id, 'cancel');
  else if (current && current.paused !== job.paused) await queue.notify(job.id, current.paused ? 'pause' : 'resume');
}

function toStart(job: JobRecord): JobStart {
  return {
    jobId: job.id,
    jobNo: job.no,
    generation: job.generation,
    total: job.items,
    tuning: job.plan.tuning,
    itemTimeoutMs: job.plan.itemTimeoutMs,
    paused: job.paused,
    capability: job.capability,
    tenant: job.tenant,
  };
}

/** Asks for a cancel: the row first, then the news. Where nobody is there to hear it, the job is closed here and now. */
export async function cancelJob(lifecycle: Lifecycle, job: JobRecord, by: string): Promise<JobRecord> {
  const { store } = lifecycle;
  const asked = await store.requestCancel(job.no, by);
  if (asked.cancel === null || asked.finishedAt !== null) return asked;
  const heard = await tell(lifecycle, asked, 'cancel');
  const stalled = (await liveWorkers(lifecycle)) === 0;
  if (stalled || (!heard && asked.workflowStartedAt === null)) await closeCancelled(lifecycle, asked);
  return (await store.jobByNo(job.no)) ?? asked;
}

export async function pauseJob(lifecycle: Lifecycle, job: JobRecord): Promise<JobRecord> {
  const paused = await lifecycle.store.pause(job.no);
  if (paused.paused) await tell(lifecycle, paused, 'pause');
  return paused;
}

export async function resumeJob(lifecycle: Lifecycle, job: JobRecord): Promise<JobRecord> {
  const resumed = await lifecycle.store.resume(job.no);
  if (!resumed.paused) await tell(lifecycle, resumed, 'resume');
  return resumed;
}

/** The row is what counts: a queue that cannot be told now finds it when it is back. */
async function tell({ queue }: Lifecycle, job: JobRecord, notice: Notice): Promise<boolean> {
  try {
    return await queue.notify(job.id, notice);
  } catch (error) {
    if (error instanceof QueueUnavailable) return false;
    throw error;
  }
}

export async function liveWorkers({ store, now }: Lifecycle): Promise<number> {
  return (await store.workers(now() - WORKER_SILENT_MS)).length;
}

/**
 * Closes a cancelled job without its workflow: older units are fenced off, what is open is skipped. A workflow that
 * comes back finds the job closed and closes too.
 */
export async function closeCancelled({ store }: Lifecycle, job: JobRecord): Promise<void> {
  await store.nextGeneration(job.no, job.generation);
  await store.endCancelled(job.no);
  await store.finalize(job.no, 0);
}
