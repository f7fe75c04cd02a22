import { fromIndexes, indexes, type IndexSet } from '../../../model/index-set';
import { endState, type JobState, type Outcome, type OutcomeCounts } from '../../../model/states';
import type { Statement } from '../../../store';

/** A delivery of a unit, named apart from the job so that sequences can be made before there is one. */
export interface Delivery {
  readonly generation: number;
  readonly seq: number;
  readonly delivery: string;
}

export type Command =
  | ({ readonly type: 'open' } & Delivery)
  | ({ readonly type: 'settle' } & Delivery & Settling)
  | { readonly type: 'recover'; readonly generation: number; readonly seq: number; readonly set: IndexSet }
  | { readonly type: 'nextGeneration'; readonly generation: number }
  | { readonly type: 'end'; readonly outcome: Outcome }
  | { readonly type: 'finalize' }
  | { readonly type: 'pass'; readonly ms: number };

export interface Settling {
  readonly settled: readonly { readonly index: number; readonly outcome: Outcome; readonly attempts: number }[];
  /** Parked until `ms` after the time of the flush. */
  readonly parked: readonly { readonly index: number; readonly ms: number; readonly attempts: number }[];
  readonly usage: readonly { readonly key: string; readonly quantity: number }[];
  readonly close: boolean;
}

export interface ModelItem {
  outcome: Outcome | null;
  attempts: number;
  due: number | null;
}

/** What a store must remember of one job, in the plainest way. */
export class Model {
  readonly items: ModelItem[];
  generation = 1;
  closedAs: JobState | null = null;
  statement: Statement | null = null;
  private readonly usage = new Map<string, number>();
  private readonly units = new Map<string, { delivery: string; closed: boolean }>();

  constructor(items: number) {
    this.items = Array.from({ length: items }, () => ({ outcome: null, attempts: 0, due: null }));
  }

  get tally(): OutcomeCounts {
    const tally: Record<Outcome, number> = { succeeded: 0, failed: 0, needs_review: 0, skipped: 0 };
    for (const { outcome } of this.items) if (outcome) tally[outcome] += 1;
    return tally;
  }

  get openWorkers(): number {
    return [...this.units.values()].filter((unit) => !unit.closed).length;
  }

  /** The parked items that are due, and when the next one is. */
  due(now: number): { set: IndexSet; nextDue: number | null } {
    const parked = this.items.flatMap(({ due }, index) => (due === null ? [] : [{ due, index }]));
    const later = parked.filter(({ due }) => due > now).map(({ due }) => due);
    return {
      set: fromIndexes(parked.filter(({ due }) => due <= now).map(({ index }) => index)),
      nextDue: later.length > 0 ? Math.min(...later) : null,
    };
  }

  /** Changes the model, and says what the store must answer. */
  apply(command: Command, now: number): unknown {
    switch (command.type) {
      case 'open':
        return this.open(command);
      case 'settle':
        return this.settle(command, now);
      case 'recover':
        this.units.set(`${command.generation}/${command.seq}`, { delivery: '', closed: true });
        return this.openOf(command.set, now);
      case 'nextGeneration':
        if (this.closedAs || command.generation !== this.generation) return false;
        this.generation += 1;
        for (const unit of this.units.values()) unit.closed = true;
        return true;
      case 'end':
        return this.end(command.outcome);
      case 'finalize':
        return this.finalize(now);
      case 'pass':
        return undefined;
    }
  }

  private open({ generation, seq, delivery }: Delivery): boolean {
    const name = `${generation}/${seq}`;
    if (this.closedAs || generation !== this.generation || this.units.get(name)?.closed) return false;
    this.units.set(name, { delivery, closed: false });
    return true;
  }

  private settle(flush: Delivery & Settling, now: number): boolean {
    for (const { key, quantity } of flush.usage) if (!this.usage.has(key)) this.usage.set(key, quantity);
    const unit = this.units.get(`${flush.generation}/${flush.seq}`);
    if (this.closedAs || flush.generation !== this.generation) return false;
    if (!unit || unit.closed || unit.delivery !== flush.delivery) return false;
    for (const { index, outcome, attempts } of flush.settled) {
      if (!this.items[index]!.outcome) this.items[index] = { outcome, attempts, due: null };
    }
    for (const { index, ms, attempts } of flush.parked) {
      if (!this.items[index]!.outcome) this.items[index] = { outcome: null, attempts, due: now + ms };
    }
    unit.closed = flush.close;
    return true;
  }

  private openOf(set: IndexSet, now: number): { open: IndexSet; nextDue: number | null } {
    const open = [...indexes(set)].filter((index) => !this.items[index]!.outcome);
    const later = open.filter((index) => (this.items[index]!.due ?? now) > now);
    return {
      open: fromIndexes(open.filter((index) => !later.includes(index))),
      nextDue: later.length > 0 ? Math.min(...later.map((index) => this.items[index]!.due!)) : null,
    };
  }

  private end(outcome: Outcome): number {
    const open = this.items.filter((item) => !item.outcome);
    for (const item of open) Object.assign(item, { outcome, due: null });
    return open.length;
  }

  private finalize(now: number): unknown {
    if (this.closedAs) return { state: this.closedAs };
    const { open: missing, nextDue } = this.openOf([0, this.items.length], now);
    if (this.items.some((item) => !item.outcome)) return { missing, nextDue };
    this.closedAs = endState(this.tally);
    this.statement = {
      items: this.items.length,
      outcomes: this.tally,
      attempts: this.items.reduce((total, item) => total + item.attempts, 0),
      usage: Object.fromEntries(this.usage),
    };
    this.units.clear();
    return { state: this.closedAs };
  }
}
