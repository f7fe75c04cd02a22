/** So many ticks of the watchdog make up the time that the event loop may be blocked. */
export const TICKS = 20;

/**
 * Decides whether an event loop is blocked, by ticks and not by the time of day: a process that was stopped and goes on,
 * or that gets no processor, does not tick either.
 */
export class TurnCount {
  private last: number | undefined;
  private missed = 0;

  /** @param turns counted by the event loop so far; it counts once a tick or oftener. */
  isBlockedAt(turns: number): boolean {
    this.missed = turns === this.last ? this.missed + 1 : 0;
    this.last = turns;
    return this.missed >= TICKS;
  }
}
