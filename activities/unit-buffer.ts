import type { ErrorInfo } from '../model/error-info';
import type { ItemHistory } from '../model/attempts';
import type { IndexSet } from '../model/index-set';
import type { Outcome } from '../model/states';
import type {
  CheckedWaits,
  Fence,
  ItemProgress,
  NewLogLine,
  OutcomeBody,
  ParkedItem,
  SettledItem,
  SlowItem,
  UnitFlush,
  UsageEvent,
} from '../store';
import { FLUSH } from './deps';

/** A part of what a unit has to say that one transaction can take. */
export interface Piece {
  readonly flush: UnitFlush;
  readonly bytes: number;
}

/** What a unit's attempts led to and is not in the store yet. */
export class UnitBuffer {
  /** Outcomes that fill a piece each, from when many large ones came together. */
  private whole: { readonly settled: readonly SettledItem[]; readonly bytes: number }[] = [];
  private settled: SettledItem[] = [];
  private parked: ParkedItem[] = [];
  private usage: UsageEvent[] = [];
  private log: NewLogLine[] = [];
  private returned: { index: number; history: ItemHistory }[] = [];
  private pending: CheckedWaits['pending'][number][] = [];
  private answered: CheckedWaits['answered'][number][] = [];
  private vendorCancels = { sent: 0, failed: 0 };
  private bytes = 0;
  private closing = false;
  private readonly progress = new Map<number, ItemProgress>();
  private slowest: readonly SlowItem[] = [];
  private progressChanged = false;
  /** The queue wants the unit back. */
  private doubted = false;
  /** Items running now. */
  running = 0;
  /** Items that a cancel stopped without an outcome, since the last flush. */
  stopped = 0;
  /** A newer delivery or generation has taken over: nothing that this unit says counts any more. */
  refused = false;
  /** Why the store cannot take what this unit says, ever: then the unit is as good as lost. */
  failure: { readonly error: unknown } | undefined;
  /** Earliest due time parked so far. */
  nextDue: number | null = null;

  constructor(readonly fence: Fence) {}

  settle(index: number, outcome: Outcome, attempts: number, body: OutcomeBody, bytes: number): void {
    this.end({ index, outcome, attempts, body }, bytes);
  }

  /** The item fails because the runner gives it up: a dead letter. */
  giveUp(index: number, attempts: number, body: OutcomeBody): void {
    const bytes = (body.error?.message.length ?? 0) + (body.error?.stack?.length ?? 0);
    this.end({ index, outcome: 'failed', attempts, body, dead: true }, bytes);
  }

  private end(item: SettledItem, bytes: number): void {
    const { index } = item;
    if (this.settled.length > 0 && this.bytes + bytes > FLUSH.bytes) this.cut();
    this.settled.push(item);
    this.bytes += bytes;
    this.forget(index);
  }

  park(index: number, kind: ParkedItem['kind'], due: number, history: ItemHistory, error: ErrorInfo | null): void {
    this.parked.push({ index, kind, due, history, error });
    if (error) this.bytes += error.message.length + (error.stack?.length ?? 0);
    this.becomesDue(due);
    this.forget(index);
  }

  /** A shutdown broke its attempt off. */
  giveBack(index: number, history: ItemHistory): void {
    this.returned.push({ index, history });
  }

  /** Waits that are asked about again at `due`. */
  stillPending(set: IndexSet, due: number, failed: boolean): void {
    this.pending.push({ set, due, failed });
    this.becomesDue(due);
  }

  answer(index: number, answer: unknown, bytes: number): void {
    this.answered.push({ index, answer });
    this.bytes += bytes;
  }

  /** A vendor was asked to stop something. */
  vendorCancelled(ok: boolean): void {
    this.vendorCancels.sent++;
    if (!ok) this.vendorCancels.failed++;
  }

  private becomesDue(due: number): void {
    this.nextDue = Math.min(this.nextDue ?? due, due);
  }

  meter(event: UsageEvent): void {
    this.usage.push(event);
  }

  write(line: NewLogLine): void {
    this.log.push(line);
  }

  report(index: number, progress: ItemProgress): void {
    this.progress.set(index, progress);
    this.progressChanged = true;
  }

  forget(index: number): void {
    if (this.progress.delete(index)) this.progressChanged = true;
  }

  /** Names the running items that have run for longest. */
  name(slowest: readonly SlowItem[]): void {
    if (slowest.length === this.slowest.length && slowest.every((item, i) => item.index === this.slowest[i]!.index))
      return;
    this.slowest = slowest;
    this.progressChanged = true;
  }

  /** Has it written even if it is empty: that is how a unit hears whether it still counts. */
  ask(): void {
    this.doubted = true;
    this.progressChanged = true;
  }

  close(): void {
    this.closing = true;
  }

  get isFull(): boolean {
    const items = this.settled.length + this.parked.length + this.answered.length;
    return this.whole.length > 0 || items >= FLUSH.items || this.bytes >= FLUSH.bytes;
  }

  get isEmpty(): boolean {
    const { whole, settled, parked, usage, log, returned, pending, answered } = this;
    const lists = [whole, settled, parked, usage, log, returned, pending, answered];
    const counts = this.stopped + this.vendorCancels.sent;
    return lists.every((list) => list.length === 0) && counts === 0 && !this.progressChanged && !this.closing;
  }

  /**
   * Takes everything out, to be written in this order. What was used goes with the first outcomes or before them: an
   * item that has its outcome is not run again, and would not say so again.
   */
  drain(): Piece[] {
    this.cut();
    const { fence, running, parked, usage, log, returned, pending, answered, stopped, vendorCancels } = this;
    const progress = Object.fromEntries(this.progress);
    const said = {
      ...{ parked, usage, log },
      ...(returned.length > 0 && { returned }),
      ...(pending.length + answered.length > 0 && { checked: { pending, answered } }),
      ...(stopped > 0 && { stopped }),
      ...(vendorCancels.sent > 0 && { vendorCancels }),
    };
    const about = {
      ...(this.doubted && { doubtful: true }),
      ...(this.slowest.length > 0 && { slowest: this.slowest }),
    };
    const nothing = { parked: [], usage: [], log: [] };
    const pieces = this.whole.map(({ settled, bytes }, i, { length }) => {
      const close = this.closing && i === length - 1;
      return { bytes, flush: { fence, settled, ...(i === 0 ? said : nothing), running, progress, close, ...about } };
    });
    this.whole = [];
    this.parked = [];
    this.usage = [];
    this.log = [];
    this.returned = [];
    this.pending = [];
    this.answered = [];
    this.stopped = 0;
    this.vendorCancels = { sent: 0, failed: 0 };
    this.progressChanged = false;
    this.closing = false;
    return pieces;
  }

  private cut(): void {
    this.whole.push({ settled: this.settled, bytes: this.bytes });
    this.settled = [];
    this.bytes = 0;
  }
}
