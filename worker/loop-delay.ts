import { monitorEventLoopDelay } from 'node:perf_hooks';

/** A timer that should fire this often shows how late the event loop is, ms. */
const EVERY_MS = 20;

/** Measures how late the event loop of this process is. */
export function watchLoopDelay(): { take(): number; stop(): void } {
  const histogram = monitorEventLoopDelay({ resolution: EVERY_MS });
  histogram.enable();
  return {
    /** The 99th percentile since the last call, whole ms. */
    take: () => {
      // What is measured is the time between two turns of the timer; without any, there is nothing to tell.
      const ms = histogram.count === 0 ? 0 : histogram.percentile(99) / 1e6 - EVERY_MS;
      histogram.reset();
      return Math.max(0, Math.round(ms));
    },
    stop: () => {
      histogram.disable();
    },
  };
}
