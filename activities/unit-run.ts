import type { Item, Payload } from '../contract';
import { toErrorInfo, toIssues, type ErrorInfo } from '../model/error-info';
import { fromIndexes, union, type IndexSet } from '../model/index-set';
import type { Plan } from '../model/plan';
import type { JobRecord, OpenItem } from '../store';
import type { Clock } from './clock';
import type { ActivityDeps, Log } from './deps';
import { dispose, fail, postpone, type Judged } from './disposition';
import type { Invocation} from './invocation';
import { type Ending, type StopReason } from './invocation';
import { ItemSource, type WorkItem } from './item-source';
import type { Settler } from './settler';
import type { UnitBuffer } from './unit-buffer';

/** How long code of a payload may keep the event loop before others get a turn, ms. */
const TURN_MS = 20;

/** An item whose last attempt still runs in this process, deaf to its time-out, is tried again this much later, ms. */
const STILL_RUNNING_MS = 5_000;

/** Calls of payload code that were abandoned and have not ended, by job and item: in one process an item runs once. */
export type Deaf = Set<string>;

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
    private readonly deaf: Deaf,
    open: readonly OpenItem[],
  ) {
    this.plan = job.plan;
    this.clock = deps.clock;
    this.source = new ItemSource(deps.store, job.no, open);
    this.config = deps.configOf(payload);
    const params = payload.params.safeParse(job.params);
    this.params = params.data;
    if (!params.success)
      this.jobError = toIssues(
        'params_invalid',
        'the job params do not fit this release of the payload',
        params.error.issues,
      );
    this.turnStarted = this.clock.now();
  }

  /** Nothing new is started. */
  get stopping(): boolean {
    return this.stop !== undefined || this.budgetSpent || this.buffer.refused;
  }

  get stopReason(): StopReason | undefined {
    return this.stop;
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
    const now = this.clock.now();
    for (const invocation of this.invocations) invocation.tick(now);
  }

  /** The next item, if it is at hand and can be run: what `take` gives without waiting. */
  takeNow(): WorkItem | undefined {
    if (this.stopping || this.deaf.size > 0) return undefined;
    return this.source.now();
  }

  /** The next item that can be run now, or undefined when there is none or the unit is stopping. */
  async take(): Promise<WorkItem | undefined> {
    while (!this.stopping) {
      const item = await this.source.next();
      if (!item) return undefined;
      if (!this.deaf.has(this.key(item))) return item;
      postpone(this, item, STILL_RUNNING_MS, {
        code: 'still_running',
        message: 'the last attempt ran out of time and has not ended yet',
      });
    }
    return undefined;
  }

  /** The item as the payload sees it, or undefined when its input does not fit: then it has failed. */
  parse(work: WorkItem): Item | undefined {
    if (this.jobError) {
      fail(this, work, this.jobError);
      return undefined;
    }
    const parsed = this.payload.input.safeParse(JSON.parse(work.input));
    if (parsed.success) return { id: work.id, input: parsed.data };
    fail(
      this,
      work,
      toIssues('input_invalid', 'the input does not fit the schema of the payload', parsed.error.issues),
      0,
    );
    return undefined;
  }

  /** Calls payload code for `works`, abandoning it when it does not end in time. */
  invoke(invocation: Invocation, works: () => readonly WorkItem[], code: () => unknown): Ending | Promise<Ending> {
    this.invocations.add(invocation);
    if (this.stop) invocation.tell(this.stop, this.clock.now());
    const ending = invocation.run(code, (end) => {
      const keys = works().map((work) => this.key(work));
      for (const key of keys) this.deaf.add(key);
      void end.then(() => keys.forEach((key) => this.deaf.delete(key)));
    });
    if (ending instanceof Promise) return ending.finally(() => this.invocations.delete(invocation));
    this.invocations.delete(invocation);
    return ending;
  }

  /** Records what an attempt led to. */
  record(work: WorkItem, ending: Ending, told: StopReason | undefined): void {
    let counted: boolean;
    try {
      counted = dispose(this, work, ending, told);
    } catch (error) {
      // Judging calls the payload's result schema, which may throw anything.
      counted = fail(this, work, toErrorInfo(error, 'result_invalid'));
    }
    if (counted) this.ran++;
    else this.handedBack.push(work.index);
    this.buffer.forget(work.index);
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

  private key(work: WorkItem): string {
    return `${this.job.no}:${work.index}`;
  }
}
