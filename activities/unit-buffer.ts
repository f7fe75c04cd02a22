import type { ErrorInfo } from '../model/error-info';
import type { ItemHistory } from '../model/attempts';
import type { Outcome } from '../model/states';
import type {
  Fence,
  ItemProgress,
  NewLogLine,
  OutcomeBody,
  ParkedItem,
  SettledItem,
  UnitFlush,
  UsageEvent,
} from '../store';
import { FLUSH } from './deps';

/** What a unit's attempts led to and is not in the store yet. */
export class UnitBuffer {
  private settled: SettledItem[] = [];
  private parked: ParkedItem[] = [];
  private usage: UsageEvent[] = [];
  private log: NewLogLine[] = [];
  private bytes = 0;
  private closing = false;
  private readonly progress = new Map<number, ItemProgress>();
  private progressChanged = false;
  /** Items running now. */
  running = 0;
  /** A newer delivery or generation has taken over: nothing that this unit says counts any more. */
  refused = false;
  /** Why the store cannot take what this unit says, ever: then the unit is as good as lost. */
  failure: { readonly error: unknown } | undefined;
  /** Earliest due time parked so far. */
  nextDue: number | null = null;

  constructor(readonly fence: Fence) {}

  settle(index: number, outcome: Outcome, attempts: number, body: OutcomeBody, bytes: number): void {
    this.settled.push({ index, outcome, attempts, body });
    this.bytes += bytes;
    this.forget(index);
  }

  park(index: number, kind: 'retry' | 'defer', due: number, history: ItemHistory, error: ErrorInfo): void {
    this.parked.push({ index, kind, due, history, error });
    this.bytes += error.message.length + (error.stack?.length ?? 0);
    this.nextDue = Math.min(this.nextDue ?? due, due);
    this.forget(index);
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

  /** Has it written even if it is empty: that is how a unit hears whether it still counts. */
  ask(): void {
    this.progressChanged = true;
  }

  close(): void {
    this.closing = true;
  }

  get isFull(): boolean {
    return this.settled.length + this.parked.length >= FLUSH.items || this.bytes >= FLUSH.bytes;
  }

  get isEmpty(): boolean {
    const lists = this.settled.length + this.parked.length + this.usage.length + this.log.length;
    return lists === 0 && !this.progressChanged && !this.closing;
  }

  /** Takes everything out, to be written. */
  drain(): UnitFlush {
    const flush: UnitFlush = {
      fence: this.fence,
      settled: this.settled,
      parked: this.parked,
      usage: this.usage,
      log: this.log,
      running: this.running,
      progress: Object.fromEntries(this.progress),
      close: this.closing,
    };
    this.settled = [];
    this.parked = [];
    this.usage = [];
    this.log = [];
    this.bytes = 0;
    this.progressChanged = false;
    this.closing = false;
    return flush;
  }
}
