import type { Item, Payload } from '../contract';
import { toIssues, type ErrorInfo } from '../model/error-info';
import { fromIndexes, union, type IndexSet } from '../model/index-set';
import type { Plan } from '../model/plan';
import type { JobRecord, OpenItem, SlowItem, UsageEvent } from '../store';
import type { Caller } from './calls/calls';
import type { JournalWriter } from './calls/journal-writer';
import type { Clock } from './clock';
import type { ActivityDeps, Log } from './deps';
import { CeilingFull } from './calls/errors';
import { dispose, fail, postpone, readable, returned, type Judged } from './disposition';
import type { Ending, Invocation, StopReason } from './invocation';
import { liveOf, type PinnedBatch } from './pinned';
import { ItemSource, type WorkItem } from './item-source';
import type { Settler } from './settler';
import type { UnitBuffer } from './unit-buffer';

/** How long code of a payload may keep the event loop before others get a turn, ms. */
const TURN_MS = 20;

/** An item of which an attempt still runs in this process is tried again this much later. */
export const STILL_RUNNING = {
  ms: 5_000,
  why: { code: 'still_running', message: 'an attempt of it still runs' },
};

/** Items that have run this long, ms, are named in the unit's row; so many of them. */
const SLOW = { afterMs: 5_000, named: 3 };

/**
 * Items of which an attempt runs in this process, by job and index: in one process an item runs once at a time. An
 * attempt may outlive its item's turn, deaf to its time-out, and its unit, when that was taken for lost.
 */
export type Busy = Set<string>;

/** What a delivery of a unit brings along. */
export interface UnitParts {
  readonly job: JobRecord;
  readonly payload: Payload;
  readonly slots: number;
  readonly buffer: UnitBuffer;
  readonly log: Log;
  readonly settler: Settler;
  readonly journal: JournalWriter;
  readonly busy: Busy;
  readonly open: readonly OpenItem[];
  /** Batches that were formed before and keep their members. */
  readonly pinned?: readonly PinnedBatch[];
  /** The job was cancelled: calls under way are looked up, and no new one is made. */
  readonly settling?: boolean;
  /** Told before an item starts, and waited for. */
  readonly announce?: (index: number) => Promise<void>;
}

/** One delivery of a unit while it runs: what is shared by the loop, the Context's verbs and the clock's ticks. */
export class UnitRun implements Judged {
  readonly job: JobRecord;
  readonly payload: Payload;
  readonly slots: number;
  readonly buffer: UnitBuffer;
  readonly log: Log;
  readonly plan: Plan;
  readonly source: ItemSource;
  readonly clock: Clock;
  readonly params: unknown;
  readonly config: unknown;
  /** What journaled calls stand on. */
  readonly caller: Caller;
  readonly announce: UnitParts['announce'];
  /** Still to be formed. */
  readonly pinned: PinnedBatch[];
  /** Attempts that ended. */
  ran = 0;
  /** A ceiling on open waits was met. */
  full = false;
  /** What makes every item of the job fail: its params do not parse any more. */
  readonly jobError: ErrorInfo | undefined;
  private readonly settler: Settler;
  private readonly busy: Busy;
  private readonly invocations = new Set<Invocation>();
  private handedBack: number[] = [];
  private stop: StopReason | undefined;
  private budgetSpent = false;
  private turnStarted = 0;
  /** When the running items were started, the oldest first; of those that end at once, none. */
  private readonly since = new Map<number, number>();

  constructor(
    readonly deps: ActivityDeps,
    parts: UnitParts,
  ) {
    const { job, payload, buffer } = parts;
    this.job = job;
    this.payload = payload;
    this.slots = parts.slots;
    this.buffer = buffer;
    this.log = parts.log;
    this.settler = parts.settler;
    this.busy = parts.busy;
    this.announce = parts.announce;
    this.pinned = [...(parts.pinned ?? [])];
    this.plan = job.plan;
    this.clock = deps.clock;
    this.source = new ItemSource(deps.store, job.no, parts.open);
    this.config = deps.configOf(payload);
    this.caller = {
      deps,
      journal: parts.journal,
      rootNo: job.rootNo,
      fence: buffer.fence,
      settling: parts.settling ?? false,
      vendorCancelled: (ok) => {
        buffer.vendorCancelled(ok);
        parts.settler.late(buffer);
      },
    };
    const params = fit(payload.params, job.params, PARAMS_MISFIT);
    if ('error' in params) this.jobError = params.error;
    else this.params = params.data;
    this.turnStarted = this.clock.now();
  }

  /** Nothing new is started. */
  get stopping(): boolean {
    const { buffer } = this;
    return this.stop !== undefined || this.budgetSpent || this.full || buffer.refused || buffer.failure !== undefined;
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
    this.buffer.name(this.slowest(now));
  }

  private slowest(now: number): SlowItem[] {
    const slow: SlowItem[] = [];
    for (const [index, startedAt] of this.since) {
      if (slow.length === SLOW.named || now - startedAt < SLOW.afterMs) break;
      slow.push({ index, startedAt });
    }
    return slow;
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
      else postpone(this, item, STILL_RUNNING.ms, STILL_RUNNING.why);
    }
    return undefined;
  }

  /** An item that was taken and is not run. */
  handBack(work: WorkItem): void {
    this.handedBack.push(work.index);
    this.busy.delete(this.key(work));
    this.since.delete(work.index);
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
    this.since.set(work.index, this.clock.now());
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
  record(work: WorkItem, ending: Ending, attempt: Invocation): void {
    const verdict = attempt.verdict(ending);
    if (attempt.markedAs(CeilingFull)) this.full = true;
    const led = dispose(this, work, verdict, attempt);
    if (led) this.ran++;
    else this.broke(work, attempt);
    if (!('abandoned' in ending)) this.busy.delete(this.key(work));
    this.since.delete(work.index);
    this.buffer.forget(work.index);
  }

  /** An attempt that led to nothing. */
  private broke(work: WorkItem, { stopReason, progressed }: Invocation): void {
    if (stopReason === 'cancel') this.buffer.stopped++;
    if (stopReason === 'shutdown' && returned(this, work, progressed)) return;
    this.handedBack.push(work.index);
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
    const unformed = this.pinned.map(liveOf).reduce(union, []);
    return union(union(fromIndexes(this.handedBack), unformed), this.source.rest());
  }

  isBusy(work: WorkItem): boolean {
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
