import { isWaiting, waiting, type Context, type Item } from '../../contract';
import { Calls } from '../calls/calls';
import { itemSubject } from '../calls/keys';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { Verbs, meter, type InHand } from './base';
import { startWait } from './wait';

/** One attempt of one item: its Context, and what follows what the payload returns. */
export class ItemAttempt implements InHand {
  readonly context: Context;
  private made: Calls | undefined;

  constructor(
    readonly unit: UnitRun,
    readonly invocation: Invocation,
    item: Item,
    private readonly work: WorkItem,
  ) {
    this.context = new ItemContext(this, item);
  }

  get current(): readonly WorkItem[] {
    return [this.work];
  }

  /** Most items make no calls. */
  get calls(): Calls {
    this.made ??= new Calls(this.unit.caller, this.invocation, itemSubject(this.work.id));
    return this.made;
  }

  /** What the payload returned, or that a wait was started where it asked for one. */
  follow(returned: unknown): unknown {
    if (!isWaiting(returned)) return returned;
    return startWait(this.unit, this.invocation, this.calls, this.work, returned);
  }
}

class ItemContext extends Verbs implements Context {
  readonly #unit: UnitRun;

  constructor(
    attempt: ItemAttempt,
    readonly item: Item,
  ) {
    super(attempt);
    this.#unit = attempt.unit;
  }

  get wait(): Context['wait'] {
    return (wait, args) => waiting(wait, args);
  }

  get meter(): Context['meter'] {
    const { item } = this;
    const unit = this.#unit;
    return (name, quantity, options) => meter(unit, item, name, quantity, options);
  }
}
