import { StoreUnavailable, type Store, type UnitFlush } from '../store';
import type { Clock } from './clock';
import { FLUSH, type Log } from './deps';
import type { UnitBuffer } from './unit-buffer';

interface Entry {
  readonly buffer: UnitBuffer;
  readonly flush: UnitFlush;
}

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
    this.pending.push({ buffer, flush: buffer.drain() });
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

  private async write(): Promise<void> {
    for (const buffer of this.buffers) if (!buffer.isEmpty) this.pending.push({ buffer, flush: buffer.drain() });
    if (this.pending.length === 0) return;
    const batch = [...this.pending];
    try {
      await this.settle(batch);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) return this.writeSingly(batch);
      // Kept in `pending`: what an attempt led to is written later rather than run again.
      this.log.warn({ err: error, units: batch.length }, 'the store does not take outcomes now');
      throw error;
    }
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
