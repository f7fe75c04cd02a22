/** Time as the activities see it; passed in, so that a simulator can bring its own. */
export interface Clock {
  /** ms since the epoch. */
  now(): number;
  /** Calls `work` every `ms` until the returned function is called. Does not keep the process alive. */
  every(ms: number, work: () => void): () => void;
  /** Lets timers and I/O have their turn. */
  breathe(): Promise<void>;
}

export const systemClock: Clock = {
  now: Date.now,
  every: (ms, work) => {
    const timer = setInterval(work, ms).unref();
    return () => clearInterval(timer);
  },
  breathe: () => new Promise((resolve) => setImmediate(resolve)),
};
