import type { IndexSet } from '../index-set';
import type { Found, Lane, PaceCommand, PaceEvent, UnitEnd } from './events';
import type { PaceState } from './state';
import { canRollOver, step } from './step';

/** What carries the machine's commands out: durable activities in a workflow, plain calls in one process. */
export interface PaceEffects {
  /** ms since the epoch. */
  now(): number;
  /** Delivers a unit; rejects when the delivery died. */
  send(unit: { seq: number; lane: Lane; set: IndexSet; slots: number }): Promise<UnitEnd>;
  /** Ends queued units and tells the running ones. */
  cancelUnits(): void;
  recover(seq: number, set: IndexSet): Promise<{ open: Found; nextDue: number | null }>;
  claim(
    exclude: IndexSet,
    limit: number,
    without?: 'run',
  ): Promise<{ due: Found; more: boolean; nextDue: number | null }>;
  settle(): Promise<unknown>;
  finalize(round: number): Promise<{ missing: IndexSet; nextDue: number | null }>;
  /** Replaces the one timer; null clears it. */
  setTimer(at: number | null, fire: () => void): void;
  /** After every event. */
  changed(state: PaceState): void;
}

type Happening = PaceEvent extends infer Event ? (Event extends PaceEvent ? Omit<Event, 'now'> : never) : never;

/** Feeds events to the machine and carries its commands out. Decides nothing. */
export class PaceInterpreter {
  /** What made an effect fail for good; the job cannot go on here then. */
  failure: { readonly error: unknown } | undefined;

  constructor(
    public state: PaceState,
    private readonly effects: PaceEffects,
  ) {}

  push(happening: Happening): void {
    const { state, commands } = step(this.state, { ...happening, now: this.effects.now() });
    this.state = state;
    for (const command of commands) this.carryOut(command);
    this.effects.changed(state);
  }

  /** Whether this interpreter has nothing more to do: the job is closed, may roll over, or cannot go on. */
  get isOver(): boolean {
    return this.state.closed || this.failure !== undefined || canRollOver(this.state);
  }

  private carryOut(command: PaceCommand): void {
    const { effects } = this;
    switch (command.type) {
      case 'send': {
        const { seq } = command;
        effects.send(command).then(
          (end) => this.push({ type: 'unit_ended', seq, end }),
          () => this.push({ type: 'unit_lost', seq }),
        );
        return;
      }
      case 'cancel_units':
        return effects.cancelUnits();
      case 'recover':
        return this.then(effects.recover(command.seq, command.set), (answer) => ({
          type: 'recovered',
          seq: command.seq,
          ...answer,
        }));
      case 'claim':
        return this.then(effects.claim(command.exclude, command.limit, command.without), (answer) => ({
          type: 'claimed',
          ...(command.without && { without: command.without }),
          ...answer,
        }));
      case 'settle':
        return this.then(effects.settle(), () => ({ type: 'settled' }));
      case 'finalize':
        return this.then(effects.finalize(command.round), (answer) => ({ type: 'finalized', ...answer }));
      case 'timer':
        return effects.setTimer(command.at, () => this.push({ type: 'timer' }));
      case 'close':
        return;
    }
  }

  private then<T>(effect: Promise<T>, event: (answer: T) => Happening): void {
    effect.then(
      (answer) => this.push(event(answer)),
      (error: unknown) => {
        this.failure ??= { error };
        this.effects.changed(this.state);
      },
    );
  }
}
