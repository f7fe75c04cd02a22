import type { ParkKind } from '../../../model/attempts';
import { fromIndexes, indexes, size, subtract, union, type IndexSet } from '../../../model/index-set';
import type { Found } from '../../../model/pace';
import { LOSS_LIMIT } from '../../../model/quarantine';
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
  | { readonly type: 'suspect'; readonly generation: number; readonly seq: number; readonly started: readonly number[] }
  | ({ readonly type: 'diedAlone'; readonly index: number } & Delivery)
  | { readonly type: 'nextGeneration'; readonly generation: number }
  | { readonly type: 'endCancelled' }
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
  kind: ParkKind | null;
  losses: number;
  deaths: number;
}

const UNTOUCHED: ModelItem = { outcome: null, attempts: 0, due: null, kind: null, losses: 0, deaths: 0 };

/** What a store must remember of one job, in the plainest way. */
export class Model {
  readonly items: ModelItem[];
  generation = 1;
  closedAs: JobState | null = null;
  statement: Statement | null = null;
  private recoveries = 0;
  private readonly usage = new Map<string, number>();
  private readonly units = new Map<string, { delivery: string; closed: boolean; accounted: boolean }>();

  constructor(items: number) {
    this.items = Array.from({ length: items }, () => ({ ...UNTOUCHED }));
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
  due(now: number): { due: Found; nextDue: number | null } {
    const parked = this.items.flatMap(({ due }, index) => (due === null ? [] : [{ due, index }]));
    const later = parked.filter(({ due }) => due > now).map(({ due }) => due);
    return {
      due: this.lanes(fromIndexes(parked.filter(({ due }) => due <= now).map(({ index }) => index))),
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
        return this.recover(command, now);
      case 'nextGeneration':
        if (this.closedAs || command.generation !== this.generation) return false;
        this.generation += 1;
        this.recoveries += this.openWorkers;
        for (const unit of this.units.values()) unit.closed = true;
        return true;
      case 'endCancelled':
        return this.endCancelled();
      case 'suspect':
        return this.suspect(command, now);
      case 'diedAlone':
        return this.diedAlone(command, now);
      case 'finalize':
        return this.finalize(now);
      case 'pass':
        return undefined;
    }
  }

  private open({ generation, seq, delivery }: Delivery): boolean {
    const name = `${generation}/${seq}`;
    if (this.closedAs || generation !== this.generation || this.units.get(name)?.closed) return false;
    this.units.set(name, { delivery, closed: false, accounted: false });
    return true;
  }

  private settle(flush: Delivery & Settling, now: number): boolean {
    for (const { key, quantity } of flush.usage) if (!this.usage.has(key)) this.usage.set(key, quantity);
    const unit = this.admitted(flush);
    if (!unit) return false;
    for (const { index, outcome, attempts } of flush.settled) {
      if (!this.items[index]!.outcome) this.items[index] = { ...UNTOUCHED, outcome, attempts };
    }
    for (const { index, ms, attempts } of flush.parked) {
      const item = this.items[index]!;
      if (!item.outcome) Object.assign(item, { attempts, due: now + ms, kind: 'retry', losses: 0 });
    }
    unit.closed = flush.close;
    return true;
  }

  private admitted({ generation, seq, delivery }: Delivery) {
    const unit = this.units.get(`${generation}/${seq}`);
    if (this.closedAs || generation !== this.generation) return undefined;
    return unit && !unit.closed && unit.delivery === delivery ? unit : undefined;
  }

  private recover({ generation, seq, set }: Extract<Command, { type: 'recover' }>, now: number): unknown {
    const unit = this.units.get(`${generation}/${seq}`);
    if (unit && !unit.closed) this.recoveries += 1;
    if (unit && !unit.closed && !unit.accounted) {
      for (const index of indexes(this.openOf(set, now).open)) {
        const item = this.items[index]!;
        item.losses += 1;
        if (item.losses >= LOSS_LIMIT) Object.assign(item, { kind: 'suspect', due: now });
        else Object.assign(item, { kind: item.kind ?? 'retry', due: item.due ?? now });
      }
    }
    this.units.set(`${generation}/${seq}`, { delivery: '', accounted: false, ...unit, closed: true });
    const { open, nextDue } = this.openOf(set, now);
    return { open: this.lanes(open), nextDue };
  }

  private suspect({ generation, seq, started }: Extract<Command, { type: 'suspect' }>, now: number): number {
    if (this.closedAs || generation !== this.generation || started.length === 0) return 0;
    const unit = this.units.get(`${generation}/${seq}`);
    if (unit) unit.accounted = true;
    const { open } = this.openOf(fromIndexes(started), now);
    const again = started.filter((index) => this.items[index]!.kind === 'suspect');
    const suspects = union(open, fromIndexes(again));
    for (const index of indexes(suspects)) Object.assign(this.items[index]!, { kind: 'suspect', due: now });
    return size(suspects);
  }

  private diedAlone(died: Extract<Command, { type: 'diedAlone' }>, now: number): number {
    const item = this.items[died.index]!;
    if (!this.admitted(died) || item.outcome) return 0;
    Object.assign(item, { kind: 'suspect', due: now + 1_000, deaths: item.deaths + 1 });
    return item.deaths;
  }

  private lanes(set: IndexSet): Found {
    const isSuspect = (index: number): boolean => this.items[index]!.kind === 'suspect';
    const quarantine = fromIndexes([...indexes(set)].filter(isSuspect));
    return { run: subtract(set, quarantine), check: [], quarantine };
  }

  private openOf(set: IndexSet, now: number): { open: IndexSet; nextDue: number | null } {
    const open = [...indexes(set)].filter((index) => !this.items[index]!.outcome);
    const later = open.filter((index) => (this.items[index]!.due ?? now) > now);
    return {
      open: fromIndexes(open.filter((index) => !later.includes(index))),
      nextDue: later.length > 0 ? Math.min(...later.map((index) => this.items[index]!.due!)) : null,
    };
  }

  private endCancelled(): { skipped: number; unknown: number } {
    const open = this.items.filter((item) => !item.outcome);
    for (const item of open) Object.assign(item, { ...UNTOUCHED, outcome: 'skipped', attempts: item.attempts });
    return { skipped: open.length, unknown: 0 };
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
      ...{ deferrals: 0, recoveries: this.recoveries, waits: 0, vendorCalls: { made: 0, unanswered: 0 } },
      phases: expect.any(Object) as unknown as Statement['phases'],
      usage: Object.fromEntries(this.usage),
    };
    this.units.clear();
    return { state: this.closedAs };
  }
}
