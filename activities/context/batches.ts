import type { Batch, BatchContext, Item, MeterOptions } from '../../contract';
import { fail, isError } from '../disposition';
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
  /** Why no batch could be formed: the store's affair, whatever the payload makes of it. */
  private failure: { readonly error: unknown } | undefined;
  private open = new Map<Item, WorkItem>();
  private startedAt = 0;

  constructor(
    private readonly unit: UnitRun,
    private readonly invocation: Invocation,
  ) {
    const base = baseContext(unit, invocation, () => this.inHand);
    this.restartDeadline();
    this.context = Object.assign(base, {
      batches: ({ size }: { size: number }) => this.iterate(size),
      meter: (name: string, quantity: number, options: (MeterOptions & { item: Item }) | undefined) =>
        meter(unit, options?.item, name, quantity, options),
    });
  }

  /** The items of the current batch that are not settled. */
  get inHand(): readonly WorkItem[] {
    return [...this.open.values()];
  }

  /**
   * The call has ended: what it left unsettled gets the call's own ending.
   * @throws the error of the store that kept it from going on.
   */
  async end(ending: Ending): Promise<void> {
    if (this.failure) throw this.failure.error;
    if ('value' in ending) this.leave();
    else this.finish(ending);
    if (this.given > 0) return;
    if ('value' in ending) await failUntaken(this.unit);
    else await this.failNext(ending);
  }

  /** The call failed before it took anything: the next item bears it, so that the loop gets on. */
  private async failNext(ending: Ending): Promise<void> {
    const work = await this.unit.take();
    if (work) this.unit.record(work, ending, this.invocation.stopReason);
  }

  private async *iterate(size: number): AsyncGenerator<Batch> {
    const most = Math.max(1, Math.min(Math.floor(size) || 1, this.unit.slots, this.unit.payload.limits.batch));
    for (;;) {
      const items = await this.next(most);
      this.restartDeadline();
      if (items.length === 0) return;
      this.given++;
      yield { items, settle: (item, answer) => this.settle(item, answer) };
    }
  }

  /** The loop turned: the last batch is over, and the next one is formed. Empty when there is none. */
  private async next(most: number): Promise<Item[]> {
    if (this.invocation.revoked) return [];
    this.leave();
    // What the runner does now is not the payload's time.
    this.invocation.deadline = Infinity;
    try {
      await this.persist();
      const items = this.isStopping ? [] : await this.form(most);
      if (!this.isStopping) return items;
    } catch (error) {
      this.failure = { error };
    }
    for (const work of this.open.values()) this.unit.handBack(work);
    this.open.clear();
    if (this.failure) throw this.failure.error;
    return [];
  }

  private get isStopping(): boolean {
    return this.invocation.revoked || this.unit.stopping || this.invocation.stopReason !== undefined;
  }

  private async persist(): Promise<void> {
    if (this.given > 0 && this.unit.clock.now() - this.startedAt >= QUICK_BATCH_MS) await this.unit.checkpoint();
    else if (this.unit.needsRelief) await this.unit.relieve();
  }

  private restartDeadline(): void {
    this.startedAt = this.unit.clock.now();
    this.invocation.deadline = this.startedAt + this.unit.plan.itemTimeoutMs;
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
      this.unit.occupy(work);
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
    const ending: Ending = isError(answer) ? { error: answer } : { value: answer };
    this.unit.record(work, ending, this.invocation.stopReason);
  }

  private finish(ending: Ending): void {
    for (const work of this.open.values()) this.unit.record(work, ending, this.invocation.stopReason);
    this.open.clear();
  }

  /** A batch was left with items that nobody settled. */
  private leave(): void {
    if (this.open.size === 0) return;
    const message = 'the payload did not settle this item before it took the next batch or returned';
    this.finish({ error: Object.assign(new Error(message), { code: 'not_settled' }) });
  }
}

/** A payload that returns without taking what is left will not take it next time either. */
async function failUntaken(unit: UnitRun): Promise<void> {
  const error = { code: 'not_taken', message: 'the payload returned without taking this item from ctx.batches' };
  for (let work = await unit.take(); work; work = await unit.take()) fail(unit, work, error);
}
