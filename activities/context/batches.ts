import type { Batch, BatchContext, Item, MeterOptions } from '../../contract';
import { fail } from '../disposition';
import type { Ending, Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { baseContext, meter } from './base';

/** A batch that took less is written by the next regular flush; a longer one is a checkpoint of its own, ms. */
const QUICK_BATCH_MS = 50;

/** One call of a payload's `batches(ctx)`: forms batches out of the unit's items and records what became of them. */
export class BatchFeed {
  readonly context: BatchContext;
  /** Batches given out in this call. */
  given = 0;
  private open = new Map<Item, WorkItem>();
  private startedAt = 0;

  constructor(
    private readonly unit: UnitRun,
    private readonly invocation: Invocation,
  ) {
    const base = baseContext(unit, invocation, () => this.inHand);
    this.context = Object.assign(base, {
      batches: ({ size }: { size: number }) => this.iterate(size),
      meter: (name: string, quantity: number, options: MeterOptions & { item: Item }) =>
        meter(unit, options.item, name, quantity, options),
    });
  }

  /** The items of the current batch that are not settled. */
  get inHand(): readonly WorkItem[] {
    return [...this.open.values()];
  }

  /** The call failed before it took anything: the next item bears it, so that the loop gets on. */
  async failNext(ending: Ending): Promise<void> {
    const work = await this.unit.take();
    if (work) this.unit.record(work, ending, this.invocation.stopReason);
  }

  /** The call has ended: what it left unsettled gets the call's own ending. */
  end(ending: Ending): void {
    if ('value' in ending) this.leave();
    else this.finish(ending);
  }

  private async *iterate(size: number): AsyncGenerator<Batch> {
    const most = Math.max(1, Math.min(Math.floor(size) || 1, this.unit.slots, this.unit.payload.limits.batch));
    for (;;) {
      await this.turn();
      if (this.invocation.revoked || this.unit.stopping || this.invocation.stopReason) return;
      const items = await this.form(most);
      if (items.length === 0) return;
      this.given++;
      this.startedAt = this.unit.clock.now();
      this.invocation.deadline = this.startedAt + this.unit.plan.itemTimeoutMs;
      yield { items, settle: (item, answer) => this.settle(item, answer) };
    }
  }

  /** The loop turned: the last batch is over. */
  private async turn(): Promise<void> {
    if (this.invocation.revoked) return;
    this.leave();
    this.invocation.deadline = Infinity;
    if (this.given > 0 && this.unit.clock.now() - this.startedAt >= QUICK_BATCH_MS) await this.unit.checkpoint();
    else if (this.unit.needsRelief) await this.unit.relieve();
  }

  /** Items that failed before come one by one, so that a bad item fails alone. */
  private async form(most: number): Promise<Item[]> {
    const items: Item[] = [];
    while (items.length < most) {
      const upcoming = this.unit.source.peek();
      if (items.length > 0 && (!upcoming || upcoming.history.attempts > 0)) break;
      const work = this.unit.takeNow() ?? (await this.unit.take());
      if (!work) break;
      const parsed = this.unit.parse(work);
      if (!parsed) continue;
      this.open.set(parsed, work);
      items.push(parsed);
      if (work.history.attempts > 0) break;
    }
    this.unit.buffer.running = this.open.size;
    return items;
  }

  private settle(item: Item, answer: unknown): void {
    const work = this.open.get(item);
    if (!work || this.invocation.revoked) return;
    this.open.delete(item);
    const ending: Ending = answer instanceof Error ? { error: answer } : { value: answer };
    this.unit.record(work, ending, this.invocation.stopReason);
  }

  private finish(ending: Ending): void {
    for (const work of this.open.values()) this.unit.record(work, ending, this.invocation.stopReason);
    this.open.clear();
  }

  /** A batch was left with items that nobody settled. */
  private leave(): void {
    if (this.open.size === 0) return;
    const error = Object.assign(
      new Error('the payload did not settle this item before it took the next batch or returned'),
      {
        code: 'not_settled',
      },
    );
    this.finish({ error });
  }
}

/** A payload that returns without taking what is left will not take it next time either. */
export async function failUntaken(unit: UnitRun): Promise<void> {
  const error = { code: 'not_taken', message: 'the payload returned without taking this item from ctx.batches' };
  for (let work = await unit.take(); work; work = await unit.take()) fail(unit, work, error);
}
