/**
 * How units reach workers.
 *
 *   port.ts       what the runner needs of a queue
 *   lifecycle.ts  starting, cancelling, pausing a job: the row first, then the news
 *   activity/     jobs as Temporal workflows, units as activities
 *   in-process/   no server: the same machine, plain calls
 *   sweep/        the backstop
 */
export * from './port';
export { WORKER_SILENT_MS, cancelJob, liveWorkers, pauseJob, resumeJob, startJob, type Lifecycle } from './lifecycle';
export { TemporalQueue, type TemporalQueueOptions } from './activity/temporal-queue';
export { temporalActivities } from './activity/temporal-activities';
export { InProcessQueue } from './in-process/in-process-queue';
export type { LoopClock, LoopOptions } from './in-process/job-loop';
export { startSweeper, type SweeperOptions } from './sweep/sweeper';
export { REPAIRS, repairCounter, type Repair } from './sweep/repairs';
export { sweep } from './sweep/sweep';
