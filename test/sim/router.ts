import type { Activities, Delivery, JobRef, UnitInput, UnitResult } from '../../activities';
import type { Faults } from './faults';
import { HEARTBEAT_TIMEOUT_MS, type SimProcess } from './process';
import type { Scheduler } from './scheduler';
import type { Trace } from './trace';

/** A worker as the queue has it. */
export interface RoutedWorker {
  readonly process: SimProcess;
  readonly activities: Activities;
}

export interface RouterWorld {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly trace: Trace;
  /** A worker that takes work now. */
  readonly idleWorker: () => RoutedWorker | undefined;
  /** Whether the pace of a job was ended by force: what it sent and asked for is forgotten. */
  readonly isCut: (ref: JobRef) => boolean;
  readonly startToCloseMs: number;
  /** Told of a unit that was given up, once the store has said what of it is open. */
  readonly recovered: (input: Parameters<Activities['recover']>[0]) => void;
}

/** What the loop is told of a delivery that died. */
class Lost extends Error {
  override readonly name = 'Lost';
}

/** How often it is looked whether a delivery is still alive, ms. */
const WATCH_MS = 1_000;

/** Brings what a pace sends to workers, as a task queue does: at least once, and not always soon. */
export class Router {
  /** Jobs that a process is settling the cancel of: it may enter the payload for them. */
  readonly settling = new Map<string, number>();

  constructor(private readonly world: RouterWorld) {}

  activitiesFor(pace: SimProcess): Activities {
    const own =
      <K extends Exclude<keyof Activities, 'runUnit'>>(name: K) =>
      (input: Parameters<Activities[K]>[0]): ReturnType<Activities[K]> =>
        this.call(pace, name, input) as ReturnType<Activities[K]>;
    return {
      runUnit: (input, delivery) => this.hear(pace, input, this.deliver(pace, input, delivery)),
      begin: own('begin'),
      claimDue: own('claimDue'),
      recover: own('recover'),
      recordCancel: own('recordCancel'),
      settle: own('settle'),
      finalize: own('finalize'),
    };
  }

  /** An answer, if there is still somebody who waits for it. */
  private async hear<T>(pace: SimProcess, ref: JobRef, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } finally {
      await pace.gate();
      if (this.world.isCut(ref)) await new Promise(() => undefined);
    }
  }

  /** One of the job's own activities: tried again by another worker when the one that has it falls silent. */
  private async call(pace: SimProcess, name: Exclude<keyof Activities, 'runUnit'>, input: JobRef): Promise<unknown> {
    const work = async (): Promise<unknown> => {
      for (;;) {
        const worker = await this.worker(pace);
        await this.world.scheduler.sleep(this.world.faults.latency());
        const place = `${worker.process.name} ${input.jobNo}`;
        if (name === 'settle') this.settling.set(place, (this.settling.get(place) ?? 0) + 1);
        const perform = worker.activities[name] as (ref: JobRef) => Promise<unknown>;
        const answer = worker.process.hear(perform(input)).finally(() => {
          if (name === 'settle') this.settling.set(place, this.settling.get(place)! - 1);
        });
        const end = await orSilent(worker.process, answer);
        if (end !== SILENT && name === 'recover') this.world.recovered(input as Parameters<Activities['recover']>[0]);
        if (end !== SILENT) return end;
        this.world.trace.add('queue', `${name} of job ${input.jobNo} goes to another worker`);
      }
    };
    return this.hear(pace, input, work());
  }

  private async worker(pace: SimProcess): Promise<RoutedWorker> {
    for (;;) {
      await pace.gate();
      const worker = this.world.idleWorker();
      if (worker) return worker;
      await this.world.scheduler.sleep(500);
    }
  }

  private async deliver(pace: SimProcess, input: UnitInput, delivery: Delivery): Promise<UnitResult> {
    const { faults, scheduler, trace } = this.world;
    const name = `j${input.jobNo}/g${input.generation}/u${input.seq}`;
    trace.add('queue', `send ${name} ${input.lane ?? 'run'} [${input.set}] slots ${input.slots}`);
    if (faults.strikes('dropped', 'queue', name)) {
      await scheduler.sleep(HEARTBEAT_TIMEOUT_MS);
      throw new Lost(`${name} was dropped`);
    }
    const first = this.attempt(pace, input, delivery, name);
    let answer = first;
    if (faults.strikes('doubled', 'queue', name)) {
      first.catch(() => undefined);
      await scheduler.sleep(faults.rng.pick([0, 0, faults.rng.int(1, 500), faults.rng.int(500, 15_000)]));
      // The queue has given the first one up: what it says does not count.
      answer = this.attempt(pace, input, delivery, `${name} again`);
    }
    const result = await answer;
    trace.add('queue', `answer ${name} ${JSON.stringify(result)}`);
    if (faults.strikes('answerLost', 'queue', name)) {
      await scheduler.sleep(HEARTBEAT_TIMEOUT_MS);
      throw new Lost(`the answer of ${name} was lost`);
    }
    if (faults.strikes('answerLate', 'queue', name)) await scheduler.sleep(faults.rng.int(100, 20_000));
    return result;
  }

  /** One delivery to one worker, until it answers or is taken for dead. */
  private async attempt(pace: SimProcess, input: UnitInput, delivery: Delivery, name: string): Promise<UnitResult> {
    const { scheduler, faults, trace } = this.world;
    await scheduler.sleep(faults.latency());
    const worker = await this.worker(pace);
    const { process } = worker;
    trace.add(process.name, `gets ${name}`);
    const stop = this.stopFor(pace, input, delivery, process);
    let beatAt = scheduler.now();
    const startedAt = beatAt;
    const heartbeat = (): void => {
      beatAt = scheduler.now();
    };
    const answer = process.hear(worker.activities.runUnit(input, { heartbeat, stop: stop.signal }));
    return new Promise<UnitResult>((resolve, reject) => {
      const lost = (why: string): void => {
        trace.add('queue', `lost ${name}: ${why}`);
        // Temporal tells a worker whose activity it has given up at its next heartbeat.
        if (faults.rng.chance(0.7)) process.clock.after(faults.rng.int(0, 2_000), () => stop.abort());
        reject(new Lost(why));
      };
      let over = false;
      const watch = (): void => {
        if (over) return;
        const now = scheduler.now();
        if (now - beatAt >= HEARTBEAT_TIMEOUT_MS) lost('no heartbeat');
        else if (now - startedAt >= this.world.startToCloseMs) lost('start to close');
        else scheduler.after(WATCH_MS, watch);
      };
      scheduler.after(WATCH_MS, watch);
      const end = (): void => {
        over = true;
      };
      answer.then(resolve, (error: unknown) => reject(error as Error)).finally(end);
    });
  }

  /** The queue's wish to have the unit back reaches the worker a little later; so does the end of what sent it. */
  private stopFor(pace: SimProcess, input: UnitInput, delivery: Delivery, worker: SimProcess): AbortController {
    const { faults } = this.world;
    const stop = new AbortController();
    const soon = (): void => void worker.clock.after(faults.rng.int(0, 2_000), () => stop.abort());
    if (delivery.stop.aborted) soon();
    else delivery.stop.addEventListener('abort', soon, { once: true });
    if (faults.rng.chance(0.5)) pace.onDeath(soon);
    void input;
    return stop;
  }
}

const SILENT = Symbol('silent');

function orSilent<T>(process: SimProcess, answer: Promise<T>): Promise<T | typeof SILENT> {
  return new Promise((resolve, reject) => {
    const stop = process.onSilent(() => resolve(SILENT));
    answer.then(resolve, (error: unknown) => reject(error as Error)).finally(stop);
  });
}
