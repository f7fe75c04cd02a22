import type { JobQueue, JobStart, Notice, Inspection } from '../port';
import { JobLoop, type LoopOptions } from './job-loop';

/**
 * Jobs in this process, with no server: for development, tests and one-off runs. What a job has done is in the store
 * as ever; what ends with the process is its pace, and the sweep of the next process goes on from the store.
 */
export class InProcessQueue implements JobQueue {
  readonly kind = 'in-process';
  private readonly loops = new Map<string, { generation: number; loop: JobLoop; failed: boolean }>();

  constructor(private readonly options: LoopOptions) {}

  start(job: JobStart): Promise<void> {
    const known = this.loops.get(job.jobId);
    if (known && known.generation >= job.generation && !known.failed) return Promise.resolve();
    known?.loop.stop();
    const entry = { generation: job.generation, loop: new JobLoop(this.options, job), failed: false };
    this.loops.set(job.jobId, entry);
    void entry.loop.run().then(
      () => this.forget(job.jobId, entry.loop),
      (error: unknown) => {
        entry.failed = true;
        this.options.log.error({ err: error, job: job.jobId }, 'the pace of a job failed; the sweep starts it again');
      },
    );
    return Promise.resolve();
  }

  notify(jobId: string, notice: Notice): Promise<boolean> {
    const known = this.loops.get(jobId);
    if (!known || known.failed) return Promise.resolve(false);
    known.loop.notify(notice);
    return Promise.resolve(true);
  }

  inspect(jobId: string, generation: number): Promise<Inspection> {
    const known = this.loops.get(jobId);
    if (!known || known.generation !== generation) return Promise.resolve({ status: 'missing', paused: null });
    return Promise.resolve({ status: known.failed ? 'ended' : 'running', paused: known.loop.paused });
  }

  ailment(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  warnings(): readonly string[] {
    return ['the in-process queue runs jobs in one process only, and is not meant for production'];
  }

  url(): undefined {
    return undefined;
  }

  /** Stops the pace of every job; units in flight are ended by the worker's own shutdown. */
  async close(): Promise<void> {
    const loops = [...this.loops.values()].map((entry) => entry.loop);
    for (const loop of loops) loop.stop();
    await Promise.allSettled(loops.map((loop) => loop.idle()));
    this.loops.clear();
  }

  private forget(jobId: string, loop: JobLoop): void {
    if (this.loops.get(jobId)?.loop === loop) this.loops.delete(jobId);
  }
}
