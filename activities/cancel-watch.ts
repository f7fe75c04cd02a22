import type { Store } from '../store';
import type { Clock } from './clock';
import type { Log } from './deps';

/** Looked at this often even if the store says nothing, ms; and at most this often when it says a lot. */
const LOOK = { atLeastMs: 1_000, atMostMs: 100 };

/** Hears, once for the whole worker, which of the jobs that run here are being cancelled. */
export class CancelWatch {
  private readonly watchers = new Map<number, Set<() => void>>();
  private stopListening: (() => void) | undefined;
  private lastLook = 0;
  private dirty = false;
  private looking = false;

  constructor(
    private readonly store: Pick<Store, 'cancelling' | 'onChange'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Calls `cancelled` when the job's cancel row is there. Returns how to stop. */
  watch(jobNo: number, cancelled: () => void): () => void {
    const ofJob = this.watchers.get(jobNo) ?? new Set();
    this.watchers.set(jobNo, ofJob.add(cancelled));
    this.stopListening ??= this.listen();
    return () => {
      ofJob.delete(cancelled);
      if (ofJob.size === 0) this.watchers.delete(jobNo);
      if (this.watchers.size > 0) return;
      this.stopListening?.();
      this.stopListening = undefined;
    };
  }

  /** Looks now. */
  async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    this.dirty = false;
    this.lastLook = this.clock.now();
    try {
      for (const jobNo of await this.store.cancelling([...this.watchers.keys()])) {
        for (const cancelled of [...(this.watchers.get(jobNo) ?? [])]) cancelled();
      }
    } catch (error) {
      this.log.warn({ err: error }, 'cannot see whether jobs are being cancelled');
    } finally {
      this.looking = false;
    }
  }

  private listen(): () => void {
    const unsubscribe = this.store.onChange(() => {
      this.dirty = true;
    });
    const stopTimer = this.clock.every(LOOK.atMostMs / 2, () => {
      const since = this.clock.now() - this.lastLook;
      if (since >= LOOK.atLeastMs || (this.dirty && since >= LOOK.atMostMs)) void this.look();
    });
    return () => {
      unsubscribe();
      stopTimer();
    };
  }
}
