import { StoreUnavailable, type Store } from '../store';
import type { Clock } from './clock';
import { FLUSH, type Log } from './deps';
import type { Piece, UnitBuffer } from './unit-buffer';

interface Entry extends Piece {
  readonly buffer: UnitBuffer;
}

/**
 * Writes what the units of this worker have buffered: all of them in one transaction, so that fifty slow units cost the
 * store no more commits than one quick one; in several where it is much, so that none keeps others waiting. While one
 * is under way, what arrives waits for the next.
 */
export class Settler {
  private readonly buffers = new Set<UnitBuffer>();
  private writing: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  private stopTimer: (() => void) | undefined;

  constructor(
    private readonly store: Pick<Store, 'settle'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  add(buffer: UnitBuffer): void {
    this.buffers.add(buffer);
    this.stopTimer ??= this.clock.every(FLUSH.everyMs, () => {
      // What the store did not take is written, or the failure thrown, by the flush that a unit waits for.
      if (!this.writing) void this.flush().catch(() => undefined);
    });
  }

  remove(buffer: UnitBuffer): void {
    this.buffers.delete(buffer);
    this.late(buffer);
    if (this.buffers.size > 0) return;
    this.stopTimer?.();
    this.stopTimer = undefined;
  }

  /** Writes what came after the unit's end: an attempt that outlived it may still say what it used. */
  late(buffer: UnitBuffer): void {
    if (this.buffers.has(buffer) || buffer.isEmpty) return;
    this.take(buffer);
    void this.flush().catch(() => undefined);
  }

  /**
   * Resolves when all that is buffered now is in the store.
   * @throws StoreUnavailable when the store did not take it; it stays to be written by the next flush.
   */
  flush(): Promise<void> {
    if (!this.writing) {
      this.writing = this.write().finally(() => {
        this.writing = undefined;
      });
      return this.writing;
    }
    this.next ??= this.writing
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.flush();
      });
    return this.next;
  }

  private pending: Entry[] = [];

  private take(buffer: UnitBuffer): void {
    for (const piece of buffer.drain()) this.pending.push({ buffer, ...piece });
  }

  private async write(): Promise<void> {
    for (const buffer of this.buffers) if (!buffer.isEmpty) this.take(buffer);
    for (let batch = this.nextBatch(); batch.length > 0; batch = this.nextBatch()) {
      try {
        await this.settle(batch);
      } catch (error) {
        if (error instanceof StoreUnavailable) {
          // Kept in `pending`: what an attempt led to is written later rather than run again.
          this.log.warn({ err: error, units: batch.length }, 'the store does not take outcomes now');
          throw error;
        }
        await this.writeSingly(batch);
      }
    }
  }

  /** As much of what is pending as one transaction is to hold. */
  private nextBatch(): Entry[] {
    let bytes = 0;
    const over = this.pending.findIndex((entry, i) => (bytes += entry.bytes) > FLUSH.bytes && i > 0);
    return this.pending.slice(0, over < 0 ? undefined : over);
  }

  /** Something that one of the units says cannot be stored: the others are not to suffer for it. */
  private async writeSingly(batch: readonly Entry[]): Promise<void> {
    for (const entry of batch) {
      try {
        await this.settle([entry]);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        this.log.error({ err: error, fence: entry.buffer.fence }, 'what a unit led to cannot be stored');
        entry.buffer.failure = { error };
        this.pending = this.pending.filter((other) => other !== entry);
      }
    }
  }

  private async settle(entries: readonly Entry[]): Promise<void> {
    const accepted = await this.store.settle(entries.map((entry) => entry.flush));
    this.pending = this.pending.filter((entry) => !entries.includes(entry));
    entries.forEach((entry, position) => {
      if (!accepted[position]) entry.buffer.refused = true;
    });
  }
}
