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
import { work, type Nature } from './pace-fates';
import { ItemStore } from './pace-store';

type Pending = Exclude<PaceCommand, { type: 'timer' } | { type: 'cancel_units' } | { type: 'close' }>;
type Send = PaceCommand & { type: 'send' };
type Encoded = ReturnType<typeof encodeState>;

/** What the lanes may have in flight at once, and the items in one of their units. */
const MOST = { check: { units: 10, items: 1_000 }, quarantine: { units: 1, items: 20 } };

/** Everything around the pace machine, as a plain model: a store, and answers in any order. */
export class PaceWorld {
  state: PaceState;
  now = 1_000_000;
  timer: number | null = null;
  readonly pending: Pending[] = [];
  readonly store: ItemStore;
  closed = false;
  cancelled = false;
  generation = 1;
  largestState = 0;
  /** Times that it was asked of each lane, and that a unit came upon an item of another one. */
  readonly seen = { run: 0, check: 0, quarantine: 0, elsewhere: 0, full: 0 };
  /** Whether all that must hold is looked at after every event; with 300,000 items it would take minutes. */
  watchful = true;
  /** Until when nothing may be sent to be run, as the machine was told. */
  private fullUntil: number | null = null;
  /** Items that the machine cannot know the lane of. */
  private readonly strays = new Set<number>();

  constructor(
    readonly total: number,
    readonly tuning: Tuning,
    readonly nature: Nature,
  ) {
    this.store = new ItemStore(total);
    this.state = initialState({ total, tuning });
  }

  feed(event: Record<string, unknown> & { type: PaceEvent['type'] }): void {
    if (event.type === 'cancel') this.cancelled = true;
    const { state, commands } = step(this.state, { ...event, now: this.now } as PaceEvent);
    const encoded = this.encoded(state);
    this.state = state;
    for (const command of commands) this.take(command);
    if (!this.watchful) return;
    const decoded = decodeState(encoded);
    if (JSON.stringify(decoded) !== JSON.stringify(state)) expect(decoded).toEqual(state);
    this.checkUnits();
  }

  /** The state as it travels through continue-as-new. */
  private encoded(state: PaceState): Encoded {
    const text = JSON.stringify(encodeState(state));
    this.largestState = Math.max(this.largestState, text.length);
    return JSON.parse(text) as Encoded;
  }

  private take(command: PaceCommand): void {
    if (command.type === 'timer') this.timer = command.at;
    else if (command.type === 'close') this.closed = true;
    else if (command.type !== 'cancel_units') this.pending.push(command);
    if (command.type === 'send') this.checkSend(command);
  }

  private checkSend({ lane, set, slots }: Send): void {
    this.seen[lane]++;
    if (this.cancelled) throw new Error('a unit was sent after the cancel');
    const wanted = { run: slots >= 1, check: slots === 0, quarantine: slots === 1 };
    if (!wanted[lane]) throw new Error(`a unit of ${lane} holds ${slots} slots`);
    if (lane !== 'check' && this.fullUntil !== null && this.now < this.fullUntil) {
      throw new Error('sent to be run while as many wait as may');
    }
    const most = lane === 'run' ? this.tuning.unitMax : MOST[lane].items;
    if (sets.size(set) > most || sets.isEmpty(set)) throw new Error(`${sets.size(set)} items in a unit of ${lane}`);
    for (const item of sets.indexes(set)) {
      if (this.store.lane(item) === lane && (lane === 'run' || this.store.later(item, this.now) === null)) continue;
      // A run unit may come upon an item of another lane, but not upon one whose lane the machine was told.
      if (lane !== 'run' || !this.strays.delete(item)) throw new Error(`item ${item} was sent in the lane ${lane}`);
    }
  }

  private checkUnits(): void {
    const units = Object.values(this.state.inFlight);
    const slots = units.reduce((sum, unit) => sum + unit.slots, 0);
    if (slots > this.tuning.window) throw new Error(`window exceeded: ${slots} over ${this.tuning.window}`);
    for (const lane of ['check', 'quarantine'] as const) {
      const inLane = units.filter((unit) => unit.lane === lane).length;
      if (inLane > MOST[lane].units) throw new Error(`${inLane} units of ${lane}`);
    }
    const inHand = [...units.map((unit) => unit.set), ...Object.values(this.state.recovering)];
    inHand.push(this.state.ready, this.state.checks, this.state.suspects);
    const all = inHand.reduce(sets.union, sets.EMPTY);
    const count = inHand.reduce((sum, set) => sum + sets.size(set), 0);
    if (sets.size(all) !== count) throw new Error('an item is in two places at once');
  }

  /** Answers the pending command at `index`; `luck` gives a number in [0, 1) per call. */
  answer(index: number, luck: () => number): void {
    const [command] = this.pending.splice(index, 1);
    if (!command) return;
    switch (command.type) {
      case 'send':
        return this.endUnit(command, luck);
      case 'recover':
        return this.recover(command.seq, command.set, luck);
      case 'claim': {
        const { exclude, limit, without } = command;
        const answer = this.store.claim(exclude, limit, without, this.now);
        return this.feed({ type: 'claimed', ...(without && { without }), ...answer });
      }
      case 'settle':
        for (let item = 0; item < this.total; item++) if (!this.store.hasEnded(item)) this.store.end(item, 'skipped');
        return this.feed({ type: 'settled' });
      case 'finalize': {
        const { open, nextDue } = this.store.open(sets.range(0, this.total), this.now);
        const missing = [open.run, open.check, open.quarantine].reduce(sets.union);
        for (const item of sets.indexes(missing)) this.strays.add(item);
        return this.feed({ type: 'finalized', missing, nextDue });
      }
    }
  }

  /** Does a unit's work; then it answers, or its answer is lost. */
  private endUnit({ seq, lane, set }: Send, luck: () => number): void {
    const lost = luck() < 0.1;
    const end = work(lane, set, this.store, this.nature, this.now, luck);
    if (lost) return this.feed({ type: 'unit_lost', seq });
    if (end.elsewhere && lane === 'run') this.seen.elsewhere++;
    if (lane === 'check' && !sets.isEmpty(end.handedBack)) this.fullUntil = null;
    else if (end.fullMs !== undefined) {
      this.seen.full++;
      this.fullUntil = Math.max(this.fullUntil ?? 0, this.now + end.fullMs);
    }
    this.feed({ type: 'unit_ended', seq, end });
  }

  /** Says what is open of a lost unit. Some of what was to be run had started. */
  private recover(seq: number, set: sets.IndexSet, luck: () => number): void {
    const { run } = this.store.open(set, this.now).open;
    for (const item of sets.indexes(run)) {
      if (luck() < (this.nature.suspects ?? 0)) this.store.park(item, 'suspect', this.now);
    }
    this.feed({ type: 'recovered', seq, ...this.store.open(set, this.now) });
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
    this.state = resumeState(this.encoded(this.state));
    this.feed({ type: 'start' });
  }

  /** The workflow is gone: another generation goes on from the store. */
  restart(): void {
    this.pending.length = 0;
    this.timer = null;
    this.fullUntil = null;
    this.generation++;
    const { total, tuning } = this;
    const { cursor, nextDue } = this.store.beginning();
    for (let item = cursor; item < total; item++) this.strays.add(item);
    this.state = initialState({ total, tuning, cursor, nextDue, paused: this.state.paused });
    const { cancelled } = this;
    this.cancelled = false;
    this.feed({ type: 'start' });
    if (cancelled) this.feed({ type: 'cancel' });
  }

  /** Answers, in the order that `pick` gives, and fires whatever is outstanding until the job closes. */
  finish(luck: () => number, pick = luck): void {
    if (this.state.paused) this.feed({ type: 'resume' });
    for (let i = 0; !this.closed; i++) {
      const where = (): string => JSON.stringify(encodeState(this.state)).slice(0, 2_000);
      if (i > 100_000) throw new Error(`the job did not close: ${where()}`);
      if (this.pending.length > 0) this.answer(Math.floor(pick() * this.pending.length), luck);
      else if (canRollOver(this.state)) this.rollOver();
      else if (this.timer !== null) this.fireTimer();
      else throw new Error(`nothing is outstanding, yet the job is open: ${where()}`);
    }
  }
}
