/** Time as the supervisor sees it; tests give it another. */
export interface SupervisorClock {
  now(): number;
  /** Resolves early, and without an error, when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
