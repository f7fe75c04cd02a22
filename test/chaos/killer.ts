import assert from 'node:assert/strict';
import type { JobJson } from '../../api';
import type { WorkerProc } from '../support/service';
import { endedOf, type Chaos } from './chaos';

/** Kills the one worker of a scenario, in either of two ways, and sees to it that there is one again. */
export class Killer {
  kills = 0;
  private worker!: WorkerProc;

  constructor(private readonly chaos: Chaos) {}

  async start(): Promise<void> {
    this.worker = await this.chaos.service.startWorker();
  }

  /** By luck: the worker proper, which its supervisor starts again, or all of it, as when the machine dies. */
  async kill(): Promise<void> {
    if (this.chaos.random() < 0.5) await this.killWhole();
    else this.killProper();
  }

  private killProper(): void {
    try {
      this.worker.crash();
      this.kills++;
    } catch (error) {
      // Its supervisor has not started it again yet: there is nothing to kill.
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    }
  }

  async killWhole(): Promise<void> {
    this.worker.kill('SIGKILL');
    this.kills++;
    await this.worker.exited;
    await this.start();
  }
}

/** Watches a job for what must never be undone: the count of items that have ended, and what each has ended as. */
export class Progress {
  private ended = 0;
  private readonly outcomes = new Map<string, string>();

  constructor(
    private readonly chaos: Chaos,
    private readonly job: string,
  ) {}

  async look(): Promise<JobJson> {
    const job = await this.chaos.service.get(`/v1/jobs/${this.job}`);
    const ended = endedOf(job);
    assert(ended >= this.ended, `${ended} items have ended, and ${this.ended} had before`);
    this.ended = ended;
    return job;
  }

  /** Also looks at every item. */
  async lookClosely(): Promise<void> {
    await this.look();
    for (const { id, state, attempts, finishedAt } of await this.chaos.service.results(this.job)) {
      const outcome = JSON.stringify({ state, attempts, finishedAt });
      assert.equal(outcome, this.outcomes.get(id) ?? outcome, `the outcome of ${id} has changed`);
      this.outcomes.set(id, outcome);
    }
  }
}
