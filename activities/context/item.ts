import type { Context, Item, MeterOptions } from '../../contract';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { baseContext, meter } from './base';

/** The Context of one attempt of `run(item, ctx)`. */
export function itemContext(unit: UnitRun, invocation: Invocation, item: Item, work: WorkItem): Context {
  const only = [work];
  // Assigned, not spread: spreading would read `signal`, and make one for every item.
  return Object.assign(
    baseContext(unit, invocation, () => only),
    {
      item,
      meter: (name: string, quantity: number, options: MeterOptions) => meter(unit, item, name, quantity, options),
    },
  );
}
