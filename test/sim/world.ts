import type { Log } from '../../activities';
import { startSweeper, type Lifecycle } from '../../queue';
import type { Store } from '../../store';
import type { SqlDialect } from '../../store/sql/dialect';
import { openSqlite } from '../../store/sqlite/dialect';
import type { Bug } from './bug';
import { Faults } from './faults';
import { openProcessStore } from './faulty-store';
import { Ledger } from './ledger';
import { Observer } from './observer';
import { simPayloads } from './payloads';
import type { SeedPlan } from './plan';
import { SimProcess } from './process';
import { Rng } from './random';
import { Router } from './router';
import { Scheduler } from './scheduler';
import { Script } from './script';
import { SimQueue } from './sim-queue';
import { Trace } from './trace';
import { Vendor } from './vendor';
import { startWorker, type SimWorker, type WorkerParts } from './worker';

/** A process that takes what users ask for, and sweeps. */
export interface SimApi {
  readonly process: SimProcess;
  readonly lifecycle: Lifecycle;
}

const SWEEP_MS = 15_000;

/** All processes, the store they share, the queue between them, and the faults that befall them. */
export class World {
  readonly scheduler = new Scheduler();
  readonly trace: Trace;
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly vendor: Vendor;
  readonly observer: Observer;
  readonly router: Router;
  readonly queue: SimQueue;
  api: SimApi | undefined;
  private readonly rng: Rng;
  private readonly workers: (SimWorker | undefined)[] = [];
  private base!: SqlDialect;
  private incarnations = 0;
  private readonly listeners = new Map<SimProcess, Set<() => void>>();

  constructor(
    readonly plan: SeedPlan,
    private readonly bug: Bug | undefined,
    traceAll: boolean,
  ) {
    const { scheduler } = this;
    this.rng = new Rng(`seed ${plan.seed}`).fork('world');
    this.trace = new Trace(scheduler, traceAll);
    this.faults = new Faults(this.rng.fork('faults'), plan, scheduler, this.trace);
    this.ledger = new Ledger(scheduler, this.trace);
    this.vendor = new Vendor(scheduler, this.rng.fork('vendor'), this.trace);
    const isSettling = (process: SimProcess, jobNo: number): boolean =>
      (this.router.settling.get(`${process.name} ${jobNo}`) ?? 0) > 0;
    this.observer = new Observer({ scheduler, trace: this.trace, isSettling });
    this.ledger.isEnded = (job, index) => this.observer.ofIndex(job)?.ended.has(index) ?? false;
    this.ledger.onStart = (run) => this.observer.started(run);
    this.vendor.onSend = (...sending) => this.observer.sending(...sending);
    this.router = new Router({
      ...{ scheduler, faults: this.faults, trace: this.trace },
      idleWorker: () => this.idleWorker(),
      isCut: (ref) => this.queue.isCut(ref),
      recovered: (unit) => this.observer.recovered(unit),
      startToCloseMs: 60_000 + 20_000 + 30_000,
    });
    this.queue = new SimQueue({
      ...{ scheduler, faults: this.faults, trace: this.trace, router: this.router, log: this.log },
      newName: (kind) => this.newName(kind),
      jobs: this.observer.jobs,
    });
  }

  get db(): SqlDialect['db'] {
    return this.base.db;
  }

  async open(): Promise<void> {
    const { scheduler, plan } = this;
    this.base = openSqlite({ file: ':memory:', patienceMs: 0, now: scheduler.now, sleep: (ms) => scheduler.sleep(ms) });
    await this.startApi();
    for (let slot = 0; slot < plan.workers; slot++) await this.startWorker(slot);
    this.scheduleFaults();
  }

  async close(): Promise<void> {
    for (const worker of this.workers) worker?.process.crash();
    this.queue.stop();
    this.api?.process.crash();
    await this.base.close();
  }

  private openStore = async (process: SimProcess): Promise<Store> => {
    const { scheduler, faults, trace } = this;
    const ids = this.rng.fork(`store ids ${process.name}`);
    const store = await openProcessStore(
      {
        ...{ base: this.base, scheduler, faults, trace, newId: () => ids.id() },
        committed: (by, call, result) => {
          this.tellListeners();
          this.observer.committed(by, call, result);
        },
        listen: (by, listener) => this.listen(by, listener),
      },
      process,
    );
    return { ...store, ...this.bug?.store?.(store, this.base.db) };
  };

  /** A write is noticed by other processes within the time that they look for it. */
  private listen(process: SimProcess, listener: () => void): () => void {
    const ofProcess = this.listeners.get(process) ?? new Set();
    this.listeners.set(process, ofProcess.add(listener));
    return () => void ofProcess.delete(listener);
  }

  private tellListeners(): void {
    for (const [process, listeners] of this.listeners) {
      if (!process.isAlive) this.listeners.delete(process);
      else if (listeners.size > 0) {
        process.clock.after(this.faults.rng.int(0, 25), () => listeners.forEach((listener) => listener()));
      }
    }
  }

  private log = (process: SimProcess): Log => {
    const line = (fields: object, message: string): void => {
      const { err } = fields as { err?: unknown };
      this.trace.add(
        process.name,
        `log: ${message}${err === undefined ? '' : ` (${err instanceof Error ? err.message : 'an error'})`}`,
      );
    };
    return { debug: () => undefined, info: line, warn: line, error: line };
  };

  private newName(kind: string): string {
    return `${kind}#${++this.incarnations}`;
  }

  private idleWorker(): SimWorker | undefined {
    const idle = this.workers.filter((worker) => worker?.process.isWorking);
    return idle.length === 0 ? undefined : this.faults.rng.pick(idle);
  }

  private async startWorker(slot: number): Promise<void> {
    const { scheduler, faults, rng, log, openStore, bug } = this;
    const payloadWorld = {
      ...{ plan: this.plan, ledger: this.ledger, vendor: this.vendor },
      scripts: this.plan.jobs.map((_, job) => new Script(this.plan, job)),
      die: (process: SimProcess, run: string) => this.poison(process, run),
      swallowed: this.swallowed,
    };
    const parts: WorkerParts = {
      ...{ scheduler, faults, rng, log, openStore },
      payloads: (process) => simPayloads(payloadWorld, process),
      sabotage: (activities) => ({ ...activities, ...bug?.activities?.(activities) }),
      supervised: this.plan.faults.supervised > 0,
    };
    const worker = await startWorker(parts, this.newName(`w${slot + 1}`));
    this.workers[slot] = worker;
    worker.process.onDeath(() => this.replaceWorker(slot, worker));
    this.startSweeper(worker.process, {
      store: worker.store,
      queue: this.queue.for(worker.process),
      now: scheduler.now,
    });
    this.trace.add(worker.process.name, 'starts');
  }

  /** Its supervisor starts another one, and says which items had started in it, if it can. */
  private replaceWorker(slot: number, dead: SimWorker): void {
    this.trace.add(dead.process.name, 'is dead');
    this.workers[slot] = undefined;
    const { rng } = this.faults;
    const started = dead.started.all;
    const drained = dead.process.draining.signal.aborted;
    this.scheduler.after(rng.int(500, 8_000), () => {
      void this.startWorker(slot).then(() => {
        if (drained || started.length === 0 || !rng.chance(this.plan.faults.supervised)) return;
        const why = { code: 'killed', message: 'the simulator killed it' };
        const { store, process } = this.workers[slot]!;
        store.suspect(started, why).catch(() => this.trace.add(process.name, 'could not name suspects'));
      });
    });
  }

  private poison(process: SimProcess, run: string): void {
    this.faults.note('poison', process.name, run);
    process.crash();
  }

  private async startApi(): Promise<void> {
    const process = new SimProcess(this.newName('api'), this.scheduler);
    const store = await this.scheduler.during(() => this.openStore(process));
    const lifecycle = { store, queue: this.queue.for(process), now: this.scheduler.now };
    this.api = { process, lifecycle };
    process.onDeath(() => {
      this.api = undefined;
      this.scheduler.after(this.faults.rng.int(500, 5_000), () => void this.startApi());
    });
    this.startSweeper(process, lifecycle);
  }

  private startSweeper(process: SimProcess, lifecycle: Lifecycle): void {
    startSweeper(lifecycle, { holder: process.name, everyMs: SWEEP_MS, log: this.log(process), clock: process.clock });
  }

  private scheduleFaults(): void {
    const { faults, plan } = this;
    const { rng } = faults;
    const worker = (): SimWorker | undefined => rng.pick(this.workers);
    faults.recurring(plan.faults.crashEvery, () => {
      const process = worker()?.process;
      if (!process) return;
      faults.note('crash', process.name);
      process.crash();
    });
    faults.recurring(plan.faults.freezeEvery, () => {
      const ms = rng.pick([rng.int(100, 3_000), rng.int(3_000, 40_000)]);
      const process = rng.chance(0.8) ? worker()?.process : this.api?.process;
      if (!process) return;
      faults.note('freeze', process.name, `${ms} ms`);
      process.freeze(ms);
    });
    faults.recurring(plan.faults.drainEvery, () => this.drain(worker()));
    faults.recurring(plan.faults.paceCrashEvery, () => this.endPace());
    faults.recurring(plan.faults.apiCrashEvery, () => {
      if (!this.api) return;
      faults.note('api crash', this.api.process.name);
      this.api.process.crash();
    });
    faults.recurring(plan.faults.outageEvery, () =>
      faults.startOutage(rng.pick([rng.int(50, 2_000), rng.int(2_000, 30_000)])),
    );
  }

  /** An orderly shutdown, as a deploy makes it: what has not ended by then dies. */
  private drain(worker: SimWorker | undefined): void {
    if (!worker?.process.isAlive) return;
    this.faults.note('drain', worker.process.name);
    worker.process.draining.abort();
    this.scheduler.after(this.faults.rng.int(12_000, 20_000), () => {
      const end = (): void => worker.process.crash();
      if (worker.process.isAlive) worker.store.retire(worker.process.name).then(end, end);
    });
  }

  private endPace(): void {
    const { rng } = this.faults;
    if (rng.chance(0.5)) return this.queue.crash();
    const job = rng.pick([...this.observer.jobs.values()]);
    if (job) this.queue.cut(job, rng.pick(['missing', 'ended']));
  }

  /** Calls without whose answer a payload went on. */
  readonly swallowed = new Set<string>();
}
