import { isWaiting, waiting, type Context, type Item, type MeterOptions } from '../../contract';
import { Calls } from '../calls/calls';
import { itemSubject } from '../calls/keys';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { baseContext, meter } from './base';
import { startWait } from './wait';

/** One attempt of one item: its Context, and what follows what the payload returns. */
export class ItemAttempt {
  readonly context: Context;
  private made: Calls | undefined;

  constructor(
    private readonly unit: UnitRun,
    private readonly invocation: Invocation,
    item: Item,
    private readonly work: WorkItem,
  ) {
    const only = [work];
    // Assigned, not spread: spreading would read `signal`, and make one for every item.
    this.context = Object.assign(
      baseContext(
        unit,
        invocation,
        () => only,
        () => this.calls,
      ),
      {
        item,
        wait: (wait: string, args: unknown) => waiting(wait, args),
        meter: (name: string, quantity: number, options: MeterOptions) => meter(unit, item, name, quantity, options),
      },
    );
  }

  /** What the payload returned, or that a wait was started where it asked for one. */
  follow(returned: unknown): unknown {
    if (!isWaiting(returned)) return returned;
    return startWait(this.unit, this.invocation, this.calls, this.work, returned);
  }

  /** Most items make no calls. */
  private get calls(): Calls {
    this.made ??= new Calls(this.unit.caller, this.invocation, itemSubject(this.work.id));
    return this.made;
  }
}
