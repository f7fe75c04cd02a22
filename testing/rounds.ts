import type { Activities, Delivery, JobRef, UnitInput } from '../activities';
import { decode, encode, fromIndexes, indexes, range, size, type IndexSet } from '../model/index-set';
import type { ItemView, ParkKind } from '../store';
import { viewItems, type TestJob } from './job';

/** Whoever runs units. */
export interface UnitWorker {
  /** Runs a unit; answers what of it is to be sent again because a worker died, encoded. */
  deliver(unit: UnitInput, delivery: Delivery): Promise<string | undefined>;
  settle: Activities['settle'];
}

export interface Rounds {
  /** How often an item may be run; the waits in between are skipped. */
  readonly attempts: number;
  /** Aborted: the job is cancelled. */
  readonly signal?: AbortSignal | undefined;
  /** Items are delivered one by one, and one runs at a time. */
  readonly singly?: boolean;
}

/** Checks after which a wait that is still pending is left as it is. */
const MOST_CHECKS = 10_000;

/** Runs what is open, then what came due, until nothing will or every item had its attempts. */
export async function runRounds(job: TestJob, worker: UnitWorker, rounds: Rounds): Promise<void> {
  const { store } = job;
  const { attempts, signal } = rounds;
  const stop = new AbortController();
  let cancelled: Promise<unknown> | undefined;
  const cancel = (): void => {
    cancelled = store.requestCancel(job.job.no, 'test').then(() => stop.abort());
  };
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted) cancel();
  try {
    const units = new Units(job, worker, stop.signal, rounds.singly ?? false);
    for (let left = attempts; left > 0; left--) {
      await cancelled;
      await runOpen(job, units, () => cancelled !== undefined);
      await cancelled;
      if (cancelled) return void (await worker.settle(units.ref));
      const due = (await viewItems(job)).flatMap((item) => item.parked?.due ?? []);
      if (due.length === 0) return;
      if (left > 1) job.clock.skipTo(Math.max(...due));
    }
  } finally {
    signal?.removeEventListener('abort', cancel);
    await cancelled;
  }
}

/** Runs what is open. What a ceiling on open waits kept from starting is run when they are answered. */
async function runOpen(job: TestJob, units: Units, over: () => boolean): Promise<void> {
  let before = Infinity;
  for (let left = job.job.items; left > 0 && left < before && !over();) {
    before = left;
    const open = (await viewItems(job)).filter((item) => item.body === null);
    await units.run(fromIndexes(open.map((item) => item.index)));
    await waitForAnswers(job, units, over);
    left = (await viewItems(job)).filter((item) => item.state === 'pending').length;
  }
}

/** Asks about what waits, as often as it takes, and goes on with what was answered. Neither is another attempt. */
async function waitForAnswers(job: TestJob, units: Units, over: () => boolean): Promise<void> {
  for (let checks = 0; checks < MOST_CHECKS && !over(); checks++) {
    const items = await viewItems(job);
    const parked = (kind: ParkKind): ItemView[] => items.filter((item) => item.parked?.kind === kind);
    const [waiting, answered] = [parked('wait'), parked('answer')];
    if (answered.length > 0) await units.run(fromIndexes(answered.map((item) => item.index)));
    else if (waiting.length === 0) return;
    else {
      job.clock.skipTo(Math.min(...waiting.map((item) => item.parked!.due)));
      await units.check(range(0, job.job.items));
    }
  }
}

/** Delivers units, one after the other. */
class Units {
  readonly ref: JobRef;
  private seq = 0;

  constructor(
    private readonly job: TestJob,
    private readonly worker: UnitWorker,
    private readonly stop: AbortSignal,
    private readonly singly: boolean,
  ) {
    this.ref = { jobId: job.job.id, jobNo: job.job.no, generation: 1 };
  }

  /** A payload that takes batches is given its items together, however they are delivered otherwise. */
  async run(set: IndexSet): Promise<void> {
    const { window, batch } = this.job.job.plan.tuning;
    if (!this.singly || batch !== null) return this.send({ set, slots: Math.min(window, batch ?? Infinity) });
    for (const index of [...indexes(set)]) await this.send({ set: range(index, index + 1), slots: 1 });
  }

  check(set: IndexSet): Promise<void> {
    return this.send({ set, slots: 0, lane: 'check' });
  }

  private async send({ set, ...unit }: Pick<UnitInput, 'slots' | 'lane'> & { set: IndexSet }): Promise<void> {
    const input = { ...this.ref, ...unit, seq: ++this.seq, set: encode(set) };
    const again = await this.worker.deliver(input, { heartbeat: () => undefined, stop: this.stop });
    if (again === undefined) return;
    const open = decode(again);
    if (size(open) > 0) await this.run(open);
  }
}
