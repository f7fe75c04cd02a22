import { systemClock, type Clock } from '../activities';

/** Real time, plus what a test has skipped: an attempt may take its time, a wait between two attempts takes none. */
export class TestClock implements Clock {
  private skippedMs = 0;

  readonly now = (): number => Date.now() + this.skippedMs;

  /** Goes on at `at`, if that is not past. */
  skipTo(at: number): void {
    this.skippedMs += Math.max(0, at - this.now());
  }

  /** Keeps the process alive, unlike a worker's: a payload that hangs is to run out of time, not out of process. */
  every(ms: number, work: () => void): () => void {
    const timer = setInterval(work, ms);
    return () => clearInterval(timer);
  }

  breathe(): Promise<void> {
    return systemClock.breathe();
  }
}
