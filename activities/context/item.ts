import type { Context, Item } from '../../contract';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { baseContext, meter } from './base';

/** The Context of one attempt of `run(item, ctx)`. */
export function itemContext(unit: UnitRun, invocation: Invocation, item: Item, work: WorkItem): Context {
  const only = [work];
  return {
    ...baseContext(unit, invocation, () => only),
    get signal() {
      return invocation.signal;
    },
    item,
    meter: (name, quantity, options) => meter(unit, item, name, quantity, options),
  };
}
