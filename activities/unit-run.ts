import type { Item, Payload } from '../contract';
import { toIssues, type ErrorInfo } from '../model/error-info';
import { fromIndexes, union, type IndexSet } from '../model/index-set';
import type { Plan } from '../model/plan';
import type { JobRecord, OpenItem, UsageEvent } from '../store';
import type { Clock } from './clock';
import type { ActivityDeps, Log } from './deps';
import { dispose, fail, postpone, readable, type Judged } from './disposition';
import type { Ending, Invocation, StopReason } from './invocation';
import { ItemSource, type WorkItem } from './item-source';
import type { Settler } from './settler';
import type { UnitBuffer } from './unit-buffer';

/** How long code of a payload may keep the event loop before others get a turn, ms. */
const TURN_MS = 20;

/** An item of which an attempt still runs in this process is tried again this much later, ms. */
const STILL_RUNNING_MS = 5_000;

/**
 * Items of which an attempt runs in this process, by job and index: in one process an item runs once at a time. An
 * attempt may outlive its item's turn, deaf to its time-out, and its unit, when that was taken for lost.
 */
export type Busy = Set<string>;

/** One delivery of a unit while it runs: what is shared by the loop, the Context's verbs and the clock's ticks. */
export class UnitRun implements Judged {
  readonly plan: Plan;
  readonly source: ItemSource;
  readonly clock: Clock;
  readonly params: unknown;
  readonly config: unknown;
  /** Attempts that ended. */
  ran = 0;
  private readonly invocations = new Set<Invocation>();
  private handedBack: number[] = [];
  private stop: StopReason | undefined;
  private budgetSpent = false;
  private turnStarted = 0;
  /** What makes every item of the job fail: its params do not parse any more. */
  readonly jobError: ErrorInfo | undefined;

  constructor(
    readonly deps: ActivityDeps,
    readonly job: JobRecord,
    readonly payload: Payload,
    readonly slots: number,
    readonly buffer: UnitBuffer,
    readonly log: Log,
    private readonly settler: Settler,
    private readonly busy: Busy,
    open: readonly OpenItem[],
  ) {
    this.plan = job.plan;
    this.clock = deps.clock;
    this.source = new ItemSource(deps.store, job.no, open);
    this.config = deps.configOf(payload);
    const params = fit(payload.params, job.params, PARAMS_MISFIT);
    if ('error' in params) this.jobError = params.error;
    else this.params = params.data;
    this.turnStarted = this.clock.now();
  }

  /** Nothing new is started. */
  get stopping(): boolean {
    return this.stop !== undefined || this.budgetSpent || this.buffer.refused || this.buffer.failure !== undefined;
  }

  /** Hands back what is not started; running items go on. */
  spendBudget(): void {
    this.budgetSpent = true;
  }

  /** Nothing new is started; `tellRunning` also stops what runs. */
  halt(why: StopReason, tellRunning: boolean): void {
    this.stop ??= why;
    if (tellRunning) for (const invocation of this.invocations) invocation.tell(why, this.clock.now());
  }

  /** Holds running items to their deadlines. */
  tick(): void {
    if (this.buffer.refused) this.halt('superseded', true);
    if (this.buffer.failure) this.halt('store', true);
    const now = this.clock.now();
    for (const invocation of this.invocations) invocation.tick(now);
  }

  /** The next item, if it is at hand and can be run: what `take` gives without waiting. */
  takeNow(): WorkItem | undefined {
    const item = this.stopping ? undefined : this.source.peek();
    return item && !this.isBusy(item) ? this.source.now() : undefined;
  }

  /** The next item that can be run now, or undefined when there is none or the unit is stopping. */
  async take(): Promise<WorkItem | undefined> {
    while (!this.stopping) {
      const item = await this.source.next();
      if (!item) return undefined;
      if (this.stopping) this.handBack(item);
      else if (!this.isBusy(item)) return item;
      else postpone(this, item, STILL_RUNNING_MS, { code: 'still_running', message: 'an attempt of it still runs' });
    }
    return undefined;
  }

  /** An item that was taken and is not run. */
  handBack(work: WorkItem): void {
    this.handedBack.push(work.index);
    this.busy.delete(this.key(work));
  }

  /** The item as the payload sees it, or undefined when its input does not fit: then it has failed. */
  parse(work: WorkItem): Item | undefined {
    const input = this.jobError
      ? { error: this.jobError }
      : fit(this.payload.input, JSON.parse(work.input), INPUT_MISFIT);
    if (!('error' in input)) return { id: work.id, input: input.data };
    fail(this, work, input.error, work.history.attempts);
    return undefined;
  }

  /** From now on an attempt of it runs, until it is recorded or, if it is abandoned, until it really ends. */
  occupy(work: WorkItem): void {
    this.busy.add(this.key(work));
  }

  /** Calls payload code for `works`, abandoning it when it does not end in time. */
  invoke(invocation: Invocation, works: () => readonly WorkItem[], code: () => unknown): Ending | Promise<Ending> {
    this.invocations.add(invocation);
    const ending = invocation.run(code, (end) => {
      const keys = works().map((work) => this.key(work));
      void end.then(() => keys.forEach((key) => this.busy.delete(key)));
    });
    if (ending instanceof Promise) return ending.finally(() => this.invocations.delete(invocation));
    this.invocations.delete(invocation);
    return ending;
  }

  /** Records what an attempt led to. */
  record(work: WorkItem, ending: Ending, told: StopReason | undefined): void {
    if (dispose(this, work, ending, told)) this.ran++;
    else this.handedBack.push(work.index);
    if (!('abandoned' in ending)) this.busy.delete(this.key(work));
    this.buffer.forget(work.index);
  }

  /** Records usage, also that of an attempt which was abandoned and outlives the unit. */
  meter(event: UsageEvent): void {
    this.buffer.meter(event);
    this.settler.late(this.buffer);
  }

  /** Whether it is time for `relieve`. */
  get needsRelief(): boolean {
    return this.buffer.isFull || this.clock.now() - this.turnStarted >= TURN_MS;
  }

  /** Lets others have the event loop, and the store what has gathered. */
  async relieve(): Promise<void> {
    if (this.buffer.isFull) await this.checkpoint();
    await this.clock.breathe();
    this.turnStarted = this.clock.now();
  }

  /** Waits until everything recorded so far is in the store. */
  checkpoint(): Promise<void> {
    return this.settler.flush();
  }

  /** What this delivery did not run to an end. */
  notRun(): IndexSet {
    return union(fromIndexes(this.handedBack), this.source.rest());
  }

  private isBusy(work: WorkItem): boolean {
    return this.busy.size > 0 && this.busy.has(this.key(work));
  }

  private key(work: WorkItem): string {
    return `${this.job.no}:${work.index}`;
  }
}

type Misfit = { readonly code: string; readonly message: string };
const PARAMS_MISFIT: Misfit = {
  code: 'params_invalid',
  message: 'the job params do not fit this release of the payload',
};
const INPUT_MISFIT: Misfit = {
  code: 'input_invalid',
  message: 'the input does not fit the schema of the payload',
};

/** A value as a schema of the payload has it. Schemas are the payload's code, and may throw anything. */
function fit(schema: Payload['input'], value: unknown, misfit: Misfit): { data: unknown } | { error: ErrorInfo } {
  try {
    const parsed = schema.safeParse(value);
    if (parsed.success) return { data: parsed.data };
    return { error: toIssues(misfit.code, misfit.message, parsed.error.issues) };
  } catch (error) {
    return { error: readable(error, misfit.code) };
  }
}
