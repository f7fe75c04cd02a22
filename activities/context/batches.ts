import type { Batch, BatchContext, Item, MeterOptions } from '../../contract';
import { fromIndexes } from '../../model/index-set';
import { Calls } from '../calls/calls';
import { batchSubject } from '../calls/keys';
import type { StartedPlace } from '../deps';
import { fail, isError, postpone } from '../disposition';
import type { Ending, Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { PinnedBatch } from '../pinned';
import { STILL_RUNNING, type UnitRun } from '../unit-run';
import { Verbs, meter, type InHand } from './base';

/** A batch that took less is written by the next regular flush; a longer one is a checkpoint of its own, ms. */
const QUICK_BATCH_MS = 50;

/** One call of a payload's `batches(ctx)`: forms batches out of the unit's items and records what became of them. */
export class BatchFeed implements InHand {
  readonly context: BatchContext;
  /** Batches given out in this call. */
  given = 0;
  /** Why no batch could be formed: the store's affair, whatever the payload makes of it. */
  private failure: { readonly error: unknown } | undefined;
  /** Of the batch in hand, what is not settled. */
  private open = new Map<Item, WorkItem>();
  private ofBatch: Calls | undefined;
  private places: StartedPlace[] = [];
  private startedAt = 0;

  constructor(
    readonly unit: UnitRun,
    readonly invocation: Invocation,
  ) {
    this.restartDeadline();
    this.context = Object.assign(new Verbs(this), {
      batches: ({ size }: { size: number }) => this.iterate(size),
      meter: (name: string, quantity: number, options: (MeterOptions & { item: Item }) | undefined) =>
        meter(unit, options?.item, name, quantity, options),
    });
  }

  /** @throws TypeError where no batch is in hand. */
  get calls(): Calls {
    if (!this.ofBatch) {
      throw new TypeError('a call in batches(ctx) belongs to a batch of ctx.batches, and none is in hand');
    }
    return this.ofBatch;
  }

  /** The items of the current batch that are not settled. */
  get current(): readonly WorkItem[] {
    return [...this.open.values()];
  }

  /**
   * The call has ended: what it left unsettled gets the call's own ending.
   * @throws the error of the store that kept it from going on.
   */
  async end(ending: Ending): Promise<void> {
    this.freePlaces();
    if (this.failure) throw this.failure.error;
    if ('value' in ending) this.leave();
    else this.finish(ending);
    if (this.given > 0) return;
    if ('value' in ending) await failUntaken(this.unit);
    else await this.failNext(ending);
  }

  /** The call failed before it took anything: the next item bears it, so that the loop gets on. */
  private async failNext(ending: Ending): Promise<void> {
    const pinned = this.nextPinned();
    if (pinned) this.formPinned(pinned);
    else await this.formNew(1);
    this.finish(ending);
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
    this.freePlaces();
    this.ofBatch = undefined;
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

  /** Batches that keep their members come first. Of the others, what failed before comes one by one, to fail alone. */
  private async form(most: number): Promise<Item[]> {
    const pinned = this.nextPinned();
    const works = pinned ? this.formPinned(pinned) : await this.formNew(most);
    const items = [...works.keys()];
    if (items.length === 0) return items;
    this.unit.buffer.running = this.open.size;
    this.invocation.renew();
    const members = [...works.values()];
    this.ofBatch = new Calls(
      this.unit.caller,
      this.invocation,
      batchSubject(members.map((work) => work.id)),
      fromIndexes(members.map((work) => work.index)),
    );
    await this.announce();
    return items;
  }

  /** Says that the batch starts, to whoever has to know if it does not end. */
  private async announce(): Promise<void> {
    const { unit } = this;
    const [first] = this.open.values();
    if (unit.announce && first) await unit.announce(first.index);
    const { started } = unit.deps;
    if (!started) return;
    for (const work of this.open.values()) {
      const place = started.place();
      this.places.push(place);
      place.enter(unit.buffer.fence, work.index);
    }
  }

  private freePlaces(): void {
    for (const place of this.places.splice(0)) place.free();
  }

  /** The next batch that keeps its members, but for those of which an attempt still runs. */
  private nextPinned(): PinnedBatch | undefined {
    const { unit } = this;
    for (let batch = unit.pinned.shift(); batch; batch = unit.pinned.shift()) {
      if (!batch.works.some((work) => unit.isBusy(work))) return batch;
      for (const work of batch.works) {
        if (batch.live.has(work.index)) postpone(unit, work, STILL_RUNNING.ms, STILL_RUNNING.why);
      }
    }
    return undefined;
  }

  private formPinned({ works, live }: PinnedBatch): Map<Item, WorkItem> {
    const formed = new Map<Item, WorkItem>();
    for (const work of works) {
      const parsed = this.unit.parse(work);
      if (!parsed) continue;
      formed.set(parsed, work);
      if (!live.has(work.index)) continue;
      this.unit.occupy(work);
      this.open.set(parsed, work);
    }
    return formed;
  }

  private async formNew(most: number): Promise<Map<Item, WorkItem>> {
    const items = new Map<Item, WorkItem>();
    while (items.size < most) {
      const upcoming = this.unit.source.peek();
      if (items.size > 0 && (!upcoming || upcoming.history.attempts > 0)) break;
      const work = this.unit.takeNow() ?? (await this.unit.take());
      if (!work) break;
      const parsed = this.unit.parse(work);
      if (!parsed) continue;
      this.unit.occupy(work);
      this.open.set(parsed, work);
      items.set(parsed, work);
      if (work.history.attempts > 0) break;
    }
    return items;
  }

  private settle(item: Item, answer: unknown): void {
    const work = this.open.get(item);
    if (!work || this.invocation.revoked) return;
    this.open.delete(item);
    const ending: Ending = isError(answer) ? { error: answer } : { value: answer };
    this.unit.record(work, ending, this.invocation);
  }

  private finish(ending: Ending): void {
    for (const work of this.open.values()) this.unit.record(work, ending, this.invocation);
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
  for (const { works, live } of unit.pinned.splice(0)) {
    for (const work of works) if (live.has(work.index)) fail(unit, work, error);
  }
  for (let work = await unit.take(); work; work = await unit.take()) fail(unit, work, error);
}
