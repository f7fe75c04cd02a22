import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../activities';

interface Timer {
  readonly ms: number;
  readonly work: () => void;
  next: number;
}

/** Turns of the event loop that a write of the embedded store needs to be through, with some to spare. */
const TURNS = 6;

/** Time that stands still until a test moves it. */
export class FakeClock implements Clock {
  private time = 1_700_000_000_000;
  private readonly timers = new Set<Timer>();

  readonly now = (): number => this.time;

  every(ms: number, work: () => void): () => void {
    const timer = { ms, work, next: this.time + ms };
    this.timers.add(timer);
    return () => void this.timers.delete(timer);
  }

  breathe(): Promise<void> {
    return turn();
  }

  /** How many timers run: none when nothing was left behind. */
  get ticking(): number {
    return this.timers.size;
  }

  /** Moves on by `ms`, one timer after the other, each with time for what it sets off. */
  async advance(ms: number): Promise<void> {
    const until = this.time + ms;
    for (;;) {
      await this.rest();
      const [first] = [...this.timers].sort((a, b) => a.next - b.next);
      if (!first || first.next > until) break;
      this.time = Math.max(this.time, first.next);
      first.next += first.ms;
      first.work();
    }
    this.time = until;
    await this.rest();
  }

  /** Lets everything that waits for no timer come to rest. */
  async rest(): Promise<void> {
    for (let i = 0; i < TURNS; i++) await turn();
  }
}
