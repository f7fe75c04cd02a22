import type { JobRef, Log } from '../../activities';
import { encodeState, type PaceState } from '../../model/pace';
import { InProcessQueue, QueueUnavailable, type Inspection, type JobQueue, type Notice } from '../../queue';
import type { JobRecord } from '../../store';
import type { Faults } from './faults';
import type { JobMark } from './observer';
import { SimProcess } from './process';
import type { Router } from './router';
import type { Scheduler } from './scheduler';
import type { Trace } from './trace';

/** Largest state of a pace for a job of some hundred items, bytes of JSON. */
const MAX_STATE_BYTES = 4_000;

export interface SimQueueWorld {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly trace: Trace;
  readonly router: Router;
  readonly log: (process: SimProcess) => Log;
  readonly newName: (kind: string) => string;
  readonly jobs: ReadonlyMap<number, JobMark>;
}

/** The product's in-process queue in a process that may crash, as others reach it: over a line that may break. */
export class SimQueue {
  private pace: { readonly process: SimProcess; readonly queue: InProcessQueue } | undefined;
  /** How the pace of a job was ended by force, by job and generation. */
  private readonly cuts = new Map<string, Inspection['status']>();
  private observed = 0;

  constructor(private readonly world: SimQueueWorld) {
    this.start();
  }

  isCut({ jobId, generation }: JobRef): boolean {
    return this.cuts.has(`${jobId}/${generation}`);
  }

  /** The queue as a process has it. */
  for(process: SimProcess): JobQueue {
    return {
      kind: 'in-process',
      start: (job) => this.reach(process, `start ${job.jobId}`, (queue) => queue.start(job)),
      notify: (jobId, notice) =>
        this.reach(process, `tell ${jobId} ${notice}`, (queue) => this.notify(queue, jobId, notice)),
      inspect: (jobId, generation) =>
        this.reach(process, `inspect ${jobId}`, async (queue) => {
          const status = this.cuts.get(`${jobId}/${generation}`);
          return status ? { status, paused: null } : queue.inspect(jobId, generation);
        }),
      ailment: () => Promise.resolve(undefined),
      warnings: () => [],
      url: () => undefined,
      close: () => Promise.resolve(),
    };
  }

  /** Ends the pace of a job by force: what it sent is not heard any more. */
  cut({ id, generation }: Pick<JobRecord, 'id' | 'generation'>, status: 'missing' | 'ended' | 'terminated'): void {
    this.world.faults.note(`pace ${status}`, 'queue', `${id} g${generation}`);
    this.cuts.set(`${id}/${generation}`, status);
  }

  /** The process with every pace in it dies, and another one starts with none. */
  crash(): void {
    if (!this.pace) return;
    const { faults, scheduler } = this.world;
    faults.note('pace crash', this.pace.process.name);
    this.stop();
    scheduler.after(faults.rng.int(0, 5_000), () => this.start());
  }

  stop(): void {
    this.pace?.process.crash();
    this.pace = undefined;
  }

  private start(): void {
    const { scheduler, log, newName } = this.world;
    const process = new SimProcess(newName('pace'), scheduler);
    const queue = new InProcessQueue({
      activities: this.checkedForPause(process),
      clock: process.clock,
      log: log(process),
      observe: (state) => this.observe(state),
    });
    this.pace = { process, queue };
  }

  private checkedForPause(process: SimProcess): ReturnType<Router['activitiesFor']> {
    const activities = this.world.router.activitiesFor(process);
    return {
      ...activities,
      runUnit: (input, delivery) => {
        void this.pace?.queue.inspect(input.jobId, input.generation).then(({ paused }) => {
          if (paused) this.world.trace.violate('nothing is sent after a pause was heard', `u${input.seq}`);
        });
        return activities.runUnit(input, delivery);
      },
    };
  }

  private observe(state: PaceState): void {
    if (this.observed++ % 16 > 0) return;
    const bytes = JSON.stringify(encodeState(state)).length;
    if (bytes > MAX_STATE_BYTES) this.world.trace.violate('the state of a pace stays small', `${bytes} bytes`);
  }

  private async reach<T>(process: SimProcess, what: string, work: (queue: InProcessQueue) => Promise<T>): Promise<T> {
    const { faults, scheduler, trace } = this.world;
    await process.sleep(faults.latency());
    const away = faults.strikes('queueAway', process.name, what);
    const before = away && faults.rng.chance(0.5);
    if (before || !this.pace) throw new QueueUnavailable('the simulated queue is away');
    const result = await work(this.pace.queue);
    trace.add(process.name, `${what} -> ${JSON.stringify(result) ?? ''}`);
    if (away) throw new QueueUnavailable('the answer of the simulated queue was lost');
    await scheduler.sleep(faults.latency());
    await process.gate();
    return result;
  }

  private notify(queue: InProcessQueue, jobId: string, notice: Notice): Promise<boolean> {
    const job = [...this.world.jobs.values()].find((mark) => mark.id === jobId);
    const isCut = job !== undefined && this.isCut({ jobId, jobNo: job.no, generation: job.generation });
    return isCut ? Promise.resolve(false) : queue.notify(jobId, notice);
  }
}
