import { review, type BaseContext, type Item, type MeterOptions, type PayloadLog } from '../../contract';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { createLog } from './log';

/** The verbs that both kinds of Context have. `current` names the items being run, for lines and progress. */
export function baseContext(unit: UnitRun, invocation: Invocation, current: () => readonly WorkItem[]): BaseContext {
  let log: PayloadLog | undefined;
  return {
    params: unit.params,
    config: unit.config,
    get signal() {
      return invocation.signal;
    },
    cancelled: () => invocation.stopReason === 'cancel',
    progress: (done, total, note) => {
      if (invocation.revoked) return;
      const progress = { done, ...(total !== undefined && { total }), ...(note !== undefined && { note }) };
      for (const item of current()) unit.buffer.report(item.index, progress);
    },
    get log() {
      return (log ??= createLog(unit, invocation, current));
    },
    review,
    onCancel: (hook) => invocation.onCancel(hook),
    cleanup: (hook) => invocation.cleanup(hook),
  };
}

/** Records usage; whatever is wrong with it is logged, because metering never throws into a payload. */
export function meter(
  unit: UnitRun,
  item: Item | undefined,
  name: string,
  quantity: number,
  options: MeterOptions,
): void {
  const key: unknown = (options as MeterOptions | undefined)?.key;
  if (!item || typeof name !== 'string' || typeof key !== 'string' || !Number.isFinite(quantity)) {
    unit.log.error(
      { item: item?.id, name, quantity, key },
      'usage that cannot be recorded: it needs an item, a name, a number and a key',
    );
    return;
  }
  unit.buffer.meter({ itemId: item.id, name, quantity, key });
}
