import type { Fence, IntentWrite, JobRecord, JournalAnswer, JournalWrite, UnitFlush } from '../../store';
import type { StoreCall } from './faulty-store';
import type { Run } from './ledger';
import type { SimProcess } from './process';
import type { Scheduler } from './scheduler';
import type { Trace } from './trace';
import type { CallRecord, Send } from './vendor';

/** What was committed of an item, in the order of all commits. */
interface ItemMark {
  readonly order: number;
  readonly attempts: number;
  /** An attempt ended and was counted. */
  readonly counted: boolean;
}

interface UnitMark {
  delivery: string;
  closed: boolean;
  /** Place of its admission in the order of all commits. */
  opened: number;
}

interface Intent {
  readonly order: number;
  readonly at: number;
  readonly process: SimProcess;
}

/** A job as the commits tell of it. */
export class JobMark {
  generation = 1;
  cancelAt: number | null = null;
  readonly units = new Map<string, UnitMark>();
  readonly items = new Map<number, ItemMark[]>();
  /** Items with an accepted outcome. */
  readonly ended = new Map<number, { readonly order: number; readonly outcome: string }>();
  /** Texts of dispositions that the store took: they name the runs that led to them. */
  readonly accepted: string[] = [];
  /** Deferrals that were taken, each once however often it was written. */
  readonly deferrals = new Set<string>();
  /** Tokens of intents that were stored, but for those of effects; and those of them that start a wait. */
  readonly intents = new Set<string>();
  readonly starts = new Set<string>();
  /** Open units that were closed because they were lost. */
  recoveries = 0;

  constructor(
    readonly no: number,
    readonly id: string,
    /** Of its plan. */
    readonly index: number,
  ) {}
}

/** A cancelled payload may go on for 15 s after it was told; it is told within 2 s. Some more for what is slow, ms. */
const LATEST_CALL_MS = 18_500;
const LATEST_START_MS = 3_000;

export interface ObserverWorld {
  readonly scheduler: Scheduler;
  readonly trace: Trace;
  readonly isSettling: (process: SimProcess, jobNo: number) => boolean;
}

/** Watches what is committed, sent and started while a world runs, and compares it with what may be. */
export class Observer {
  readonly jobs = new Map<number, JobMark>();
  readonly intents = new Map<string, Intent[]>();
  /** Order of the first result that the store took, by key of the call. */
  private readonly results = new Map<string, number>();
  /** When it was last said of a call that nothing was done, by its key. */
  readonly withdrawnAt = new Map<string, number>();
  private readonly keys = new Map<string, string>();
  private order = 0;

  constructor(private readonly world: ObserverWorld) {}

  ofIndex(index: number): JobMark | undefined {
    return [...this.jobs.values()].find((job) => job.index === index);
  }

  committed(process: SimProcess, { method, args }: StoreCall, result: unknown): void {
    this.order++;
    switch (method) {
      case 'seal':
        return this.sealed((result as { job: JobRecord }).job);
      case 'openUnit':
        return this.opened(args[0] as Fence, result as JobRecord | undefined);
      case 'settle':
        return (args[0] as UnitFlush[]).forEach((flush, i) => this.settled(flush, (result as boolean[])[i]!));
      case 'journal':
        return (args[0] as JournalWrite[]).forEach((write, i) =>
          this.journaled(process, write, (result as JournalAnswer[])[i]!),
        );
      case 'recover':
        return this.close(args[0] as number, `${String(args[1])}/${String(args[2])}`);
      case 'nextGeneration':
        return this.moved(args[0] as number, result as boolean);
      case 'requestCancel':
        return this.cancelled(result as JobRecord);
    }
  }

  private sealed(job: JobRecord): void {
    if (!this.jobs.has(job.no)) this.jobs.set(job.no, new JobMark(job.no, job.id, Number(job.labels['index'])));
  }

  private cancelled({ no, cancel }: JobRecord): void {
    const job = this.jobs.get(no)!;
    if (cancel) job.cancelAt ??= this.world.scheduler.now();
  }

  private moved(no: number, moved: boolean): void {
    if (!moved) return;
    const job = this.jobs.get(no)!;
    job.generation++;
    for (const unit of job.units.values()) {
      if (!unit.closed) job.recoveries++;
      unit.closed = true;
    }
  }

  private opened({ jobNo, generation, seq, delivery }: Fence, admitted: JobRecord | undefined): void {
    if (!admitted) return;
    const job = this.jobs.get(jobNo)!;
    const unit = job.units.get(`${generation}/${seq}`);
    if (unit?.closed || generation !== job.generation) {
      this.world.trace.violate('a closed unit is not opened again', `u${seq} of generation ${generation}`);
    }
    job.units.set(`${generation}/${seq}`, { delivery, closed: false, opened: this.order });
  }

  /** To be told of each unit that was given up: it is closed from then on, whatever the store makes of it. */
  recovered({ jobNo, generation, seq }: Pick<Fence, 'jobNo' | 'generation' | 'seq'>): void {
    const unit = this.jobs.get(jobNo)!.units.get(`${generation}/${seq}`);
    if (unit) unit.closed = true;
  }

  private close(jobNo: number, unit: string): void {
    const job = this.jobs.get(jobNo)!;
    const known = job.units.get(unit);
    if (known && !known.closed) job.recoveries++;
    if (known) known.closed = true;
    else job.units.set(unit, { delivery: '', closed: true, opened: this.order });
  }

  /** The admission that a fence speaks for; undefined when another one has taken over. */
  private current({ jobNo, generation, seq, delivery }: Fence): UnitMark | undefined {
    const job = this.jobs.get(jobNo)!;
    const unit = job.units.get(`${generation}/${seq}`);
    return unit && !unit.closed && unit.delivery === delivery && generation === job.generation ? unit : undefined;
  }

  private settled(flush: UnitFlush, accepted: boolean): void {
    if (!accepted) return;
    const { fence } = flush;
    const unit = this.current(fence);
    if (!unit) {
      this.world.trace.violate('a fenced delivery settles nothing', JSON.stringify(fence));
      return;
    }
    const job = this.jobs.get(fence.jobNo)!;
    for (const { index, kind, error, history } of flush.parked) {
      if (kind === 'defer') job.deferrals.add(`${fence.delivery}/${index}/${history.deferrals}`);
      if (error) job.accepted.push(error.message);
      this.mark(job, unit, { index, attempts: history.attempts, counted: kind === 'retry', what: kind });
    }
    for (const { index, outcome, attempts, body } of flush.settled) {
      job.accepted.push(JSON.stringify(body));
      if (!job.ended.has(index)) job.ended.set(index, { order: this.order, outcome });
      this.mark(job, unit, { index, attempts, counted: true, what: outcome });
    }
    if (flush.close) unit.closed = true;
  }

  /** An attempt that ends has seen all that was counted before its unit was admitted, and counts one more at most. */
  private mark(
    job: JobMark,
    unit: UnitMark,
    { index, attempts, counted, what }: { index: number; attempts: number; counted: boolean; what: string },
  ): void {
    const marks = job.items.get(index) ?? [];
    const seen = marks.filter((mark) => mark.order < unit.opened).map((mark) => mark.attempts);
    const least = Math.max(0, ...seen);
    const most = marks.filter((mark) => mark.counted).length + 1;
    if (what === 'retry' && attempts <= least) {
      this.world.trace.violate(
        'a counted attempt is not forgotten',
        `${job.index}/${index} ${what}: ${attempts} after ${least}`,
      );
    }
    if (attempts < least || attempts > most) {
      this.world.trace.violate(
        'attempts are those that ended',
        `${job.index}/${index} ${what}: ${attempts}, not ${least}..${most}`,
      );
    }
    job.items.set(index, [...marks, { order: this.order, attempts, counted }]);
  }

  private journaled(process: SimProcess, write: JournalWrite, answer: JournalAnswer): void {
    const name = JSON.stringify([write.rootNo, write.subject, write.call]);
    if (write.type === 'intent' && answer.is === 'stored') this.intended(process, write, name);
    const key = this.keys.get(name);
    if (write.type === 'withdrawn' && key !== undefined) this.withdrawnAt.set(key, this.world.scheduler.now());
    if (write.type === 'result' && answer.is === 'stored' && key !== undefined && !this.results.has(key)) {
      this.results.set(key, this.order);
    }
  }

  private intended(process: SimProcess, write: IntentWrite, name: string): void {
    const { trace, scheduler } = this.world;
    const job = this.jobs.get(write.fence.jobNo)!;
    this.keys.set(name, write.key);
    if (write.kind !== 'once') job.intents.add(write.token);
    if (write.kind === 'start') job.starts.add(write.token);
    const intent = { order: this.order, at: scheduler.now(), process };
    this.intents.set(write.key, [...(this.intents.get(write.key) ?? []), intent]);
    if (!this.current(write.fence)) trace.violate('a fenced delivery starts no call', `${write.subject} ${write.call}`);
    const since = this.sinceCancel(process, job);
    if (since > LATEST_CALL_MS) {
      trace.violate('no call is made long after a cancel', `${write.subject} ${write.call}, ${since} ms after it`);
    }
  }

  /** How long ago the job was cancelled, ms; 0 where it was not, or where the process could not have heard of it. */
  private sinceCancel(process: SimProcess, job: JobMark): number {
    if (job.cancelAt === null || process.wasTroubledSince(job.cancelAt - 3_000)) return 0;
    return this.world.scheduler.now() - job.cancelAt;
  }

  /** To be told of each run of payload code. */
  started({ process, job: index, name }: Run): void {
    const job = this.ofIndex(index)!;
    const since = this.sinceCancel(process, job);
    if (since > LATEST_START_MS && !this.world.isSettling(process, job.no)) {
      this.world.trace.violate('nothing is started long after a cancel', `${name}, ${since} ms after it`);
    }
  }

  /** To be told of each sending of a call. */
  sending(process: SimProcess, record: CallRecord, send: Send): void {
    const { trace } = this.world;
    const intent = this.intents.get(record.key)?.findLast((one) => one.process === process);
    if (!intent) return trace.violate('an intent is stored before a call', record.label);
    send.intent = intent.order;
    const [job, item] = record.label.split('/').map(Number);
    if ((this.ofIndex(job!)?.ended.get(item!)?.order ?? Infinity) < intent.order) {
      trace.violate('no call is made for an item with an outcome', record.label);
    }
    const resultAt = this.results.get(record.key) ?? Infinity;
    if (intent.order > resultAt) trace.violate('a call with a result is not made again', record.label);
    if (record.mode === 'idempotent' || record.mode === 'both') return;
    for (const before of record.sends) {
      if (before.intent >= intent.order || before.heard === 'nothing_done') continue;
      const absent = record.asked.some(
        ({ said, at }) => said === 'absent' && at <= intent.at && at >= this.timeOf(record.key, before.intent),
      );
      if (!absent)
        trace.violate('a call that may have been charged is not made again', `${record.label} (${record.mode})`);
    }
  }

  private timeOf(key: string, order: number): number {
    return this.intents.get(key)?.find((intent) => intent.order === order)?.at ?? 0;
  }
}
