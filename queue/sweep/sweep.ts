import type { Log } from '../../activities';
import { isEmpty } from '../../model/index-set';
import type { JobRecord } from '../../store';
import { WORKER_SILENT_MS, closeCancelled, liveWorkers, startJob, type Lifecycle } from '../lifecycle';
import { QueueUnavailable } from '../port';
import { noteRepair, repairCounter, type Repair } from './repairs';

/** A job that was sealed this long ago and not started was forgotten by the API that took it, ms. */
const UNSTARTED_AFTER_MS = 3_000;

/** A job of which nothing was heard for this long is looked at, ms. */
const SILENT_AFTER_MS = 10_000;

/** An upload that nothing was added to for this long is broken, ms. */
const BROKEN_AFTER_MS = 600_000;

/** Jobs looked at by one sweep. */
const LIMIT = 200;

/**
 * The one backstop: finds jobs that the fast path forgot or lost, and uploads that broke off. Every repair is
 * idempotent, and a line in the job's log. It reads the store and asks the queue, so that it shares no failure with
 * the path it backs.
 */
export async function sweep(lifecycle: Lifecycle, log: Log): Promise<void> {
  const { store, now } = lifecycle;
  await each(await store.unstarted(now() - UNSTARTED_AFTER_MS, LIMIT), log, (job) => start(lifecycle, job));
  await each(await store.silent(now() - SILENT_AFTER_MS, LIMIT), log, (job) => lookAt(lifecycle, job));
  for (const upload of await store.brokenUploads(now() - BROKEN_AFTER_MS)) await store.dropUpload(upload);
}

/** A job that cannot be mended now does not keep the others from it; a queue that is away does. */
async function each(jobs: readonly JobRecord[], log: Log, mend: (job: JobRecord) => Promise<void>): Promise<void> {
  for (const job of jobs) {
    try {
      await mend(job);
    } catch (error) {
      if (error instanceof QueueUnavailable) return;
      log.error({ err: error, job: job.id }, 'the sweep could not mend a job');
    }
  }
}

async function start(lifecycle: Lifecycle, job: JobRecord): Promise<void> {
  if (job.cancel) return closeAlone(lifecycle, job, 'cancel_unheard');
  await startJob(lifecycle, job);
  await noteRepair(lifecycle, job, 'unstarted', `started by the sweep (generation ${job.generation})`);
}

async function lookAt(lifecycle: Lifecycle, job: JobRecord): Promise<void> {
  const { store, queue } = lifecycle;
  const { status, paused } = await queue.inspect(job.id, job.generation);
  if (status === 'running') {
    if (job.cancel && (await liveWorkers(lifecycle)) === 0) return closeAlone(lifecycle, job, 'cancel_unheard');
    // The row was written, and the news may have been lost: the queue was away just then.
    if (job.cancel) await queue.notify(job.id, 'cancel');
    else if (paused !== null && paused !== job.paused) await queue.notify(job.id, job.paused ? 'pause' : 'resume');
    return store.touch(job.no);
  }
  if (status === 'terminated') return closeTerminated(lifecycle, job);
  if (job.cancel) return settleOrClose(lifecycle, job, 'workflow_gone');
  await startAgain(lifecycle, job, 'workflow_gone', `its workflow is gone (${status}): going on from the store`);
}

async function startAgain(lifecycle: Lifecycle, job: JobRecord, kind: Repair, why: string): Promise<void> {
  const { store } = lifecycle;
  if (!(await store.nextGeneration(job.no, job.generation))) return;
  await noteRepair(lifecycle, job, kind, `${why} as generation ${job.generation + 1}`);
  const next = await store.jobByNo(job.no);
  if (next) await startJob(lifecycle, next);
}

/** A cancelled job without a workflow: only a worker can ask its vendors about what is open with them. */
async function settleOrClose(lifecycle: Lifecycle, job: JobRecord, kind: Repair): Promise<void> {
  if ((await liveWorkers(lifecycle)) > 0 && (await isOpenWithVendors(lifecycle, job))) {
    const why = 'its workflow is gone, and it has calls or waits open: settling its cancel';
    return startAgain(lifecycle, job, kind, why);
  }
  return closeAlone(lifecycle, job, kind);
}

/** Closes a cancelled job; the log says so with the state that it ends in. */
async function closeAlone(lifecycle: Lifecycle, job: JobRecord, kind: Repair): Promise<void> {
  await closeCancelled(lifecycle, job);
  await lifecycle.store.count(repairCounter(kind), 1);
}

async function isOpenWithVendors({ store }: Lifecycle, job: JobRecord): Promise<boolean> {
  if (!isEmpty(await store.openIntents(job.no))) return true;
  return (await store.openWaitsOf(job.no, { after: -1, limit: 1 })).length > 0;
}

/** A person terminated the workflow: that is a cancel. Units that still run hear of it by the row, and may finish. */
async function closeTerminated(lifecycle: Lifecycle, job: JobRecord): Promise<void> {
  const { store, now } = lifecycle;
  const { cancel } = await store.requestCancel(job.no, 'terminated in Temporal');
  const alive = new Set((await store.workers(now() - WORKER_SILENT_MS)).map((worker) => worker.id));
  const finishing = (await store.unitWorkers(job.no)).some((worker) => alive.has(worker));
  if (finishing && cancel && now() - cancel.at < WORKER_SILENT_MS) return;
  await settleOrClose(lifecycle, job, 'terminated');
}
