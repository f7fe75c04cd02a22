import { planOf } from '../../model/plan';
import { QueueUnavailable, cancelJob, pauseJob, resumeJob, startJob } from '../../queue';
import { StoreUnavailable, type JobRecord } from '../../store';
import { simPayloads } from './payloads';
import type { JobPlan, UserAct } from './plan';
import type { SimProcess } from './process';
import { BEGINNING } from './scheduler';
import { Script } from './script';
import type { SimApi, World } from './world';

/** A user tries again after this long when something did not work, ms. */
const AGAIN_MS = 2_000;

/** What users do: each goes on until it was done. */
export class Users {
  /** Acts that are still to be done. */
  pending = 0;
  private submits = 0;

  constructor(private readonly world: World) {
    for (const [index, job] of world.plan.jobs.entries()) this.plan(index, job);
  }

  private plan(index: number, job: JobPlan): void {
    const { scheduler } = this.world;
    this.pending++;
    const submitted = new Promise<JobRecord>((resolve) => {
      scheduler.at(BEGINNING + job.submitAt, () => void this.submit(index, job).then(resolve));
    });
    void submitted.then(() => this.pending--);
    const done: Promise<unknown>[] = [];
    for (const [i, { at, act }] of job.acts.entries()) {
      this.pending++;
      // The last one is that which leaves the job to itself: a pause that took its time does not come behind it.
      const before = i === job.acts.length - 1 ? Promise.all(done) : Promise.resolve();
      const time = new Promise<void>((resolve) => void scheduler.at(BEGINNING + at, resolve));
      const acted = Promise.all([submitted, time, before]).then(([record]) => this.act(record, act));
      done.push(acted);
      void acted.then(() => this.pending--);
    }
  }

  private submit(index: number, job: JobPlan): Promise<JobRecord> {
    return this.persistently(`submit ${index}`, async (api) => {
      const { store } = api.lifecycle;
      const upload = await store.openUpload('default');
      const script = new Script(this.world.plan, index);
      const rows = Array.from({ length: job.items }, (_, i) => {
        const input = script.isMisfit(i) ? { job: index } : { job: index, index: i };
        return { index: i, id: `i${i}`, input: JSON.stringify(input) };
      });
      const half = Math.ceil(rows.length / 2);
      await store.addItems(upload, rows.slice(0, half));
      if (half < rows.length) await store.addItems(upload, rows.slice(half));
      const payload = simPayloads(this.payloadWorld(), api.process)[job.kind === 'run' ? 0 : 1]!;
      const sealed = await store.seal(upload, {
        ...{ id: `sim-${index}-${++this.submits}`, tenant: 'default', caller: 'sim', params: {}, items: job.items },
        capability: payload.capability,
        labels: { index: String(index) },
        plan: planOf(payload, job.options),
        idempotency: { key: `job ${index}`, bodyHash: 'body' },
      });
      // What is sealed is accepted: with the queue away, the sweep starts it.
      if (sealed.created) await startJob(api.lifecycle, sealed.job).catch(unlessAway);
      return sealed.job;
    });
  }

  /** Payloads that are asked for their limits only. */
  private payloadWorld(): Parameters<typeof simPayloads>[0] {
    const { plan, ledger, vendor } = this.world;
    return { plan, ledger, vendor, scripts: [], die: () => undefined, swallowed: new Set() };
  }

  private act(record: JobRecord, act: UserAct): Promise<unknown> {
    return this.persistently(`${act} ${record.id}`, async ({ lifecycle }) => {
      const job = (await lifecycle.store.jobByNo(record.no))!;
      if (act === 'pause') return pauseJob(lifecycle, job);
      if (act === 'resume') return job.state === 'paused' ? resumeJob(lifecycle, job) : job;
      if (act === 'cancel') return cancelJob(lifecycle, job, 'a user');
      if (job.finishedAt === null) this.world.queue.cut(job, 'terminated');
      return job;
    });
  }

  private async persistently<T>(what: string, work: (api: SimApi) => Promise<T>): Promise<T> {
    const { scheduler, trace } = this.world;
    for (;;) {
      const { api } = this.world;
      if (api) {
        trace.add('user', what);
        const done = await tried(api.process, work(api));
        if ('value' in done) return done.value;
        trace.add('user', `${what}: ${String(done.error)}`);
        if (!isAway(done.error))
          trace.violate('users meet no error but that a part is away', `${what}: ${String(done.error)}`);
      }
      await scheduler.sleep(AGAIN_MS);
    }
  }
}

type Tried<T> = { readonly value: T } | { readonly error: unknown };

function tried<T>(process: SimProcess, work: Promise<T>): Promise<Tried<T>> {
  return new Promise((resolve) => {
    process.onDeath(() => resolve({ error: new QueueUnavailable('the process died') }));
    work.then(
      (value) => resolve({ value }),
      (error: unknown) => resolve({ error }),
    );
  });
}

function isAway(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof QueueUnavailable;
}

function unlessAway(error: unknown): void {
  if (!isAway(error)) throw error;
}
