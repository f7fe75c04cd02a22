import { review, type BaseContext, type Item, type MeterOptions, type PayloadLog } from '../../contract';
import type { ItemProgress } from '../../store';
import type { Calls } from '../calls/calls';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { callVerbs } from './calls';
import { createLog } from './log';

/**
 * The verbs that both kinds of Context have. `current` names the items being run, for lines and progress; `calls` are
 * those of the item or batch in hand.
 */
export function baseContext(
  unit: UnitRun,
  invocation: Invocation,
  current: () => readonly WorkItem[],
  calls: () => Calls,
): BaseContext {
  let log: PayloadLog | undefined;
  return {
    ...callVerbs(calls),
    params: unit.params,
    config: unit.config,
    get signal() {
      return invocation.signal;
    },
    cancelled: () => invocation.stopReason === 'cancel',
    progress: (done, total, note) => {
      const progress = invocation.revoked ? undefined : toProgress(done, total, note);
      if (!progress) return;
      invocation.progressed = true;
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

/** Longest note of a progress, characters: it travels with every flush. */
const MAX_NOTE = 200;

/** Progress as it may be stored, whatever a payload in JavaScript calls it with; undefined when it says nothing. */
function toProgress(done: number, total: number | undefined, note: string | undefined): ItemProgress | undefined {
  if (!Number.isFinite(done)) return undefined;
  return {
    done,
    ...(total !== undefined && Number.isFinite(total) && { total }),
    ...(typeof note === 'string' && { note: note.slice(0, MAX_NOTE) }),
  };
}

/** Records usage; whatever is wrong with it is logged, because metering never throws into a payload. */
export function meter(
  unit: UnitRun,
  item: Item | undefined,
  name: string,
  quantity: number,
  options: MeterOptions | undefined,
): void {
  const key: unknown = options?.key;
  const itemId: unknown = item?.id;
  const recordable = typeof itemId === 'string' && typeof name === 'string' && typeof key === 'string';
  if (recordable && Number.isFinite(quantity)) unit.meter({ itemId, name, quantity, key });
  else {
    const seen = {
      item: itemId,
      name,
      quantity: typeof quantity === 'number' ? String(quantity) : typeof quantity,
      key,
    };
    unit.log.error(seen, 'usage that cannot be recorded: it needs an item, a name, a number and a key');
  }
}
