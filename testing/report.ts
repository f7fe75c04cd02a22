import type { ErrorInfo, ItemView, Store, UnitFlush } from '../store';

/** A line that a payload wrote with `ctx.log`. */
export interface ReportedLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
}

/** What a payload recorded with `ctx.meter`. */
export interface ReportedUsage {
  readonly name: string;
  readonly quantity: number;
  readonly key: string;
}

/** What became of an item. */
export interface ItemReport {
  readonly id: string;
  /** `waiting`: another attempt follows. `deferred`: the payload threw `Defer`. `skipped`: a cancel came first. */
  readonly state: 'succeeded' | 'failed' | 'needs_review' | 'skipped' | 'waiting' | 'deferred';
  /** Attempts that counted. */
  readonly attempts: number;
  /** Of a succeeded item, as the result schema gave it out. */
  readonly result?: unknown;
  /** Why it failed, or why it is waiting or deferred. */
  readonly error?: ErrorInfo;
  /** Of an item that needs review, with the draft if there is one. */
  readonly reason?: string;
  readonly draft?: unknown;
  /** When a waiting or deferred item comes back, ms from now; rounded up as for any job, to 1 s or 5 % of the delay. */
  readonly due?: number;
  /** One entry a key, as it is charged. */
  readonly usage: readonly ReportedUsage[];
  /** Lines written while it was the only item in hand. */
  readonly log: readonly ReportedLine[];
}

/** Listens to what units write, for the things that a store does not tell item by item. */
export class Ledger {
  private readonly usage = new Map<string, Map<string, ReportedUsage>>();
  private readonly log = new Map<string, ReportedLine[]>();

  /** The store, overheard. */
  over(store: Store): Store {
    return {
      ...store,
      settle: (flushes) => {
        for (const flush of flushes) this.hear(flush);
        return store.settle(flushes);
      },
    };
  }

  report(item: ItemView, now: number): ItemReport {
    const error = item.body?.error ?? item.parked?.error;
    return {
      id: item.id,
      state: reportable(item),
      attempts: item.attempts,
      ...item.body,
      ...(error && { error }),
      ...(item.parked && { due: Math.max(0, item.parked.due - now) }),
      usage: [...(this.usage.get(item.id)?.values() ?? [])],
      log: this.log.get(item.id) ?? [],
    };
  }

  private hear(flush: UnitFlush): void {
    for (const { itemId, name, quantity, key } of flush.usage) {
      const ofItem = this.usage.get(itemId) ?? new Map<string, ReportedUsage>();
      this.usage.set(itemId, ofItem);
      if (!ofItem.has(key)) ofItem.set(key, { name, quantity, key });
    }
    for (const { itemId, level, message } of flush.log) {
      if (itemId !== undefined) this.log.set(itemId, [...(this.log.get(itemId) ?? []), { level, message }]);
    }
  }
}

function reportable({ id, state }: ItemView): ItemReport['state'] {
  if (state === 'pending' || state === 'running')
    throw new Error(`item ${id} was left ${state}: a fault of the runner`);
  return state;
}
