import { review, type BaseContext, type Item, type MeterOptions, type PayloadLog } from '../../contract';
import type { ItemProgress } from '../../store';
import type { Calls } from '../calls/calls';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { performOnce, vendorOf } from './calls';
import { createLog } from './log';

/** What the verbs stand on: the item or batch in hand, and the unit that it is run in. */
export interface InHand {
  readonly unit: UnitRun;
  readonly invocation: Invocation;
  /** The items being run, for lines and progress. */
  readonly current: readonly WorkItem[];
  /** Those of the item or batch. */
  readonly calls: Calls;
}

/**
 * The verbs that both kinds of Context have. Getters of a class, made when they are asked for: a closure for each verb of
 * each item costs more than a quick item takes, and a payload may still take a verb out of its Context.
 */
export class Verbs implements BaseContext {
  readonly #hand: InHand;
  #log: PayloadLog | undefined;

  constructor(hand: InHand) {
    this.#hand = hand;
  }

  get params(): unknown {
    return this.#hand.unit.params;
  }

  get config(): unknown {
    return this.#hand.unit.config;
  }

  get signal(): AbortSignal {
    return this.#hand.invocation.signal;
  }

  get cancelled(): BaseContext['cancelled'] {
    const { invocation } = this.#hand;
    return () => invocation.stopReason === 'cancel';
  }

  get progress(): BaseContext['progress'] {
    const hand = this.#hand;
    return (done, total, note) => {
      const { invocation, unit, current } = hand;
      const progress = invocation.revoked ? undefined : toProgress(done, total, note);
      if (!progress) return;
      invocation.progressed = true;
      for (const item of current) unit.buffer.report(item.index, progress);
    };
  }

  get log(): PayloadLog {
    const hand = this.#hand;
    this.#log ??= createLog(hand.unit, hand.invocation, () => hand.current);
    return this.#log;
  }

  get review(): BaseContext['review'] {
    return review;
  }

  get vendor(): BaseContext['vendor'] {
    const hand = this.#hand;
    return (name) => vendorOf(name, () => hand.calls);
  }

  get once(): BaseContext['once'] {
    const hand = this.#hand;
    return (name, effect, options) => performOnce(() => hand.calls, name, effect, options);
  }

  get onCancel(): BaseContext['onCancel'] {
    const { invocation } = this.#hand;
    return (hook) => invocation.onCancel(hook);
  }

  get cleanup(): BaseContext['cleanup'] {
    const { invocation } = this.#hand;
    return (hook) => invocation.cleanup(hook);
  }
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

/** Longest name or key of usage, bytes: they travel with every flush. */
const MAX_METER_BYTES = 500;

const isMeterName = (value: unknown): value is string =>
  typeof value === 'string' && Buffer.byteLength(value) <= MAX_METER_BYTES;

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
  if (typeof itemId === 'string' && isMeterName(name) && isMeterName(key) && Number.isFinite(quantity))
    unit.meter({ itemId, name, quantity, key });
  else {
    const seen = {
      item: itemId,
      name,
      quantity: typeof quantity === 'number' ? String(quantity) : typeof quantity,
      key,
    };
    unit.log.error(
      seen,
      'usage that cannot be recorded: it needs an item, a number, and a name and a key of at most 500 bytes',
    );
  }
}
