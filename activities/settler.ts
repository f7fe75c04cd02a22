import { StoreUnavailable, type Store, type UnitFlush } from '../store';
import type { Clock } from './clock';
import { FLUSH, type Log } from './deps';
import type { UnitBuffer } from './unit-buffer';

/**
 * Writes what the units of this worker have buffered: all of them in one transaction, so that fifty slow units cost the
 * store no more commits than one quick one. While one transaction is under way, what arrives waits for the next.
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
      // A failure is met again, and thrown, by the flush that a unit waits for.
      if (!this.writing) void this.flush().catch(() => undefined);
    });
  }

  remove(buffer: UnitBuffer): void {
    this.buffers.delete(buffer);
    if (this.buffers.size > 0) return;
    this.stopTimer?.();
    this.stopTimer = undefined;
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

  private pending: { buffer: UnitBuffer; flush: UnitFlush }[] = [];

  private async write(): Promise<void> {
    for (const buffer of this.buffers) if (!buffer.isEmpty) this.pending.push({ buffer, flush: buffer.drain() });
    if (this.pending.length === 0) return;
    const batch = this.pending;
    try {
      const accepted = await this.store.settle(batch.map((entry) => entry.flush));
      this.pending = [];
      batch.forEach((entry, position) => {
        if (!accepted[position]) entry.buffer.refused = true;
      });
    } catch (error) {
      // Kept in `pending`: what an attempt led to is written later rather than run again.
      if (error instanceof StoreUnavailable)
        this.log.warn({ err: error, units: batch.length }, 'the store does not take outcomes now');
      else this.pending = [];
      throw error;
    }
  }
}
