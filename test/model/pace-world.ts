import * as sets from '../../model/index-set';
import {
  canRollOver,
  decodeState,
  encodeState,
  initialState,
  resumeState,
  step,
  type PaceCommand,
  type PaceEvent,
  type PaceState,
} from '../../model/pace';
import type { Tuning } from '../../model/unit-size';

type Pending = Exclude<PaceCommand, { type: 'timer' } | { type: 'cancel_units' } | { type: 'close' }>;

/** Everything around the pace machine, as a plain model: a store of outcomes and parked items, and answers in any order. */
export class PaceWorld {
  state: PaceState;
  now = 1_000_000;
  timer: number | null = null;
  readonly pending: Pending[] = [];
  readonly outcomes = new Map<number, 'ran' | 'skipped'>();
  readonly parked = new Map<number, { due: number; attempts: number }>();
  closed = false;
  cancelAsked = false;
  largestState = 0;
  /** Longest that a unit takes, ms. */
  slowestUnit = 10_000;

  constructor(
    readonly total: number,
    readonly tuning: Tuning,
    readonly maxAttempts: number,
  ) {
    this.state = initialState({ total, tuning });
  }

  feed(event: Record<string, unknown> & { type: PaceEvent['type'] }): void {
    const { state, commands } = step(this.state, { ...event, now: this.now } as PaceEvent);
    const encoded = JSON.parse(JSON.stringify(encodeState(state))) as ReturnType<typeof encodeState>;
    expect(JSON.stringify(decodeState(encoded))).toBe(JSON.stringify(state));
    this.largestState = Math.max(this.largestState, JSON.stringify(encoded).length);
    this.state = state;
    for (const command of commands) this.take(command);
    this.checkInvariants();
  }

  private take(command: PaceCommand): void {
    if (command.type === 'timer') this.timer = command.at;
    else if (command.type === 'close') this.closed = true;
    else if (command.type !== 'cancel_units') this.pending.push(command);
  }

  private checkInvariants(): void {
    const units = Object.values(this.state.inFlight);
    const slots = units.reduce((sum, unit) => sum + unit.slots, 0);
    if (slots > this.tuning.window) throw new Error(`window exceeded: ${slots} over ${this.tuning.window}`);
    let all: sets.IndexSet = [];
    let count = 0;
    for (const { set } of units) {
      all = sets.union(all, set);
      count += sets.size(set);
      if (sets.size(set) > this.tuning.unitMax) throw new Error('unit too large');
    }
    if (sets.size(all) !== count) throw new Error('an item is in two units in flight');
  }

  /** Answers the pending command at `index`; `luck` gives a number in [0, 1) per call. */
  answer(index: number, luck: () => number): void {
    const [command] = this.pending.splice(index, 1);
    if (!command) return;
    switch (command.type) {
      case 'send':
        return this.endUnit(command.seq, command.set, luck);
      case 'recover':
        return this.feed({ type: 'recovered', seq: command.seq, ...this.open(command.set) });
      case 'claim':
        return this.claim(command.exclude, command.limit);
      case 'settle':
        for (let item = 0; item < this.total; item++) if (!this.outcomes.has(item)) this.end(item, 'skipped');
        return this.feed({ type: 'settled' });
      case 'finalize': {
        const { open, nextDue } = this.open(sets.range(0, this.total));
        return this.feed({ type: 'finalized', missing: open, nextDue });
      }
    }
  }

  private end(item: number, how: 'ran' | 'skipped'): void {
    if (this.outcomes.has(item)) throw new Error(`item ${item} ended twice`);
    this.outcomes.set(item, how);
    this.parked.delete(item);
  }

  private open(set: sets.IndexSet): { open: sets.IndexSet; nextDue: number | null } {
    const open: number[] = [];
    let nextDue: number | null = null;
    for (const item of sets.indexes(set)) {
      if (this.outcomes.has(item)) continue;
      const parked = this.parked.get(item);
      if (parked && parked.due > this.now) nextDue = Math.min(nextDue ?? Infinity, parked.due);
      else open.push(item);
    }
    return { open: sets.fromIndexes(open), nextDue };
  }

  private claim(exclude: sets.IndexSet, limit: number): void {
    const due: number[] = [];
    let nextDue: number | null = null;
    for (const [item, parked] of this.parked) {
      if (sets.has(exclude, item)) continue;
      if (parked.due <= this.now) due.push(item);
      else nextDue = Math.min(nextDue ?? Infinity, parked.due);
    }
    due.sort((a, b) => a - b);
    this.feed({
      type: 'claimed',
      set: sets.fromIndexes(due.slice(0, limit)),
      more: due.length > limit,
      nextDue,
    });
  }

  /** Runs some of a unit's items: they end, fail or are handed back; then the unit answers or is lost. */
  private endUnit(seq: number, set: sets.IndexSet, luck: () => number): void {
    const lost = luck() < 0.1;
    const handedBack: number[] = [];
    let ran = 0;
    let nextDue: number | null = null;
    for (const item of sets.indexes(set)) {
      if (this.outcomes.has(item)) continue;
      const parked = this.parked.get(item);
      if (parked && parked.due > this.now) {
        nextDue = Math.min(nextDue ?? Infinity, parked.due);
        continue;
      }
      const fate = luck();
      if (fate < 0.1) {
        handedBack.push(item);
        continue;
      }
      ran++;
      const attempts = (parked?.attempts ?? 0) + 1;
      if (attempts > this.maxAttempts) throw new Error('attempts over the budget');
      if (fate < 0.3 && attempts < this.maxAttempts) {
        const due = this.now + 1_000 + Math.floor(luck() * 20_000);
        this.parked.set(item, { due, attempts });
        nextDue = Math.min(nextDue ?? Infinity, due);
      } else this.end(item, 'ran');
    }
    if (lost) return this.feed({ type: 'unit_lost', seq });
    this.feed({
      type: 'unit_ended',
      seq,
      end: { handedBack: sets.fromIndexes(handedBack), nextDue, ran, wallMs: Math.floor(luck() * this.slowestUnit) },
    });
  }

  /** Lets time pass up to the machine's timer, as an interpreter would when nothing else happens. */
  fireTimer(): void {
    if (this.timer === null) return;
    this.now = Math.max(this.now, this.timer);
    this.timer = null;
    this.feed({ type: 'timer' });
  }

  /** Continues as new where the machine allows it. */
  rollOver(): void {
    if (!canRollOver(this.state)) return;
    this.timer = null;
    this.state = resumeState(JSON.parse(JSON.stringify(encodeState(this.state))) as ReturnType<typeof encodeState>);
    this.feed({ type: 'start' });
  }

  /** Answers and fires whatever is outstanding until the job closes. */
  finish(luck: () => number, limit = 200_000): void {
    if (this.state.paused) this.feed({ type: 'resume' });
    for (let i = 0; !this.closed; i++) {
      if (i > limit) throw new Error(`the job did not close: ${JSON.stringify(encodeState(this.state))}`);
      if (this.pending.length > 0) this.answer(Math.floor(luck() * this.pending.length), luck);
      else if (canRollOver(this.state)) this.rollOver();
      else if (this.timer !== null) this.fireTimer();
      else throw new Error(`nothing is outstanding, yet the job is open: ${JSON.stringify(encodeState(this.state))}`);
    }
  }
}
