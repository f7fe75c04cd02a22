const WINDOW_MS = 10_000;

/** Items per second over the last ten seconds. */
export class Rate {
  private samples: { at: number; done: number }[] = [];

  add(at: number, done: number): void {
    this.samples.push({ at, done });
    // One sample older than the window stays, so that the window is full.
    while (this.samples.length > 2 && (this.samples[1]?.at ?? at) <= at - WINDOW_MS) this.samples.shift();
  }

  /** Undefined until there are two samples with time between them. */
  perSecond(): number | undefined {
    const first = this.samples[0];
    const last = this.samples[this.samples.length - 1];
    if (!first || !last || last.at === first.at) return undefined;
    return ((last.done - first.done) * 1_000) / (last.at - first.at);
  }
}
