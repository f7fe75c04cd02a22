import type { Clock } from '../../activities';
import type { LoopClock } from '../../queue';
import type { Scheduler } from './scheduler';

/** Temporal takes a worker for dead that has said nothing for this long, ms. */
export const HEARTBEAT_TIMEOUT_MS = 10_000;

/** Never: what a dead process waits for. */
function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

/**
 * A process of the world: whatever it does outside of itself goes through its gate. A dead one gets no further than
 * where it is; a frozen one goes on later, unaware of the time that has passed.
 */
export class SimProcess {
  private dead = false;
  private thawAt = 0;
  private readonly silent = new Set<() => void>();
  private readonly deaths = new Set<() => void>();
  /** When it was last frozen, or kept from its store; checks of its punctuality leave such times out. */
  troubledAt = -Infinity;
  /** Aborted when it is told to shut down. */
  readonly draining = new AbortController();
  readonly clock: Clock & LoopClock;

  constructor(
    readonly name: string,
    private readonly scheduler: Scheduler,
    private readonly parent?: SimProcess,
  ) {
    this.clock = {
      now: scheduler.now,
      every: (ms, work) => this.every(ms, work),
      after: (ms, work) => this.after(ms, work),
      breathe: async () => {
        await this.gate();
        await scheduler.breathe();
        await this.gate();
      },
    };
  }

  /** Whether it, or what it takes its orders from, may have been late since `time`. */
  wasTroubledSince(time: number): boolean {
    return this.troubledAt >= time || (this.parent?.wasTroubledSince(time) ?? false);
  }

  get isAlive(): boolean {
    return !this.dead;
  }

  get isFrozen(): boolean {
    return this.thawAt > this.scheduler.now();
  }

  /** Whether it takes new work. */
  get isWorking(): boolean {
    return this.isAlive && !this.isFrozen && !this.draining.signal.aborted;
  }

  crash(): void {
    if (this.dead) return;
    this.dead = true;
    for (const listener of [...this.deaths]) listener();
    for (const listener of [...this.silent]) this.scheduler.after(HEARTBEAT_TIMEOUT_MS, listener);
    this.silent.clear();
  }

  freeze(ms: number): void {
    if (this.dead) return;
    this.troubledAt = this.scheduler.now() + ms;
    this.thawAt = Math.max(this.thawAt, this.scheduler.now() + ms);
    if (ms <= HEARTBEAT_TIMEOUT_MS) return;
    for (const listener of [...this.silent]) this.scheduler.after(HEARTBEAT_TIMEOUT_MS, listener);
    this.silent.clear();
  }

  /** Calls `listener` when it has said nothing for so long that it is taken for dead. Returns how to stop listening. */
  onSilent(listener: () => void): () => void {
    this.silent.add(listener);
    if (this.dead) this.scheduler.after(HEARTBEAT_TIMEOUT_MS, listener);
    return () => void this.silent.delete(listener);
  }

  onDeath(listener: () => void): void {
    this.deaths.add(listener);
  }

  /** Lets it through when it is well. */
  async gate(): Promise<void> {
    while (!this.dead && this.isFrozen) await this.scheduler.sleep(this.thawAt - this.scheduler.now());
    if (this.dead) await never();
  }

  async sleep(ms: number): Promise<void> {
    await this.scheduler.sleep(ms);
    await this.gate();
  }

  /** An answer from outside, as the process gets to see it. */
  async hear<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } finally {
      await this.gate();
    }
  }

  private after(ms: number, work: () => void): () => void {
    let cancel = (): void => undefined;
    const fire = (): void => {
      if (this.dead) return;
      if (this.isFrozen) cancel = this.scheduler.at(this.thawAt, fire);
      else work();
    };
    cancel = this.scheduler.after(ms, fire);
    return () => cancel();
  }

  private every(ms: number, work: () => void): () => void {
    let cancel = (): void => undefined;
    let stopped = false;
    const next = (): void => {
      cancel = this.after(ms, () => {
        work();
        if (!stopped) next();
      });
    };
    next();
    return () => {
      stopped = true;
      cancel();
    };
  }
}
