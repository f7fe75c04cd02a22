interface Timer {
  readonly at: number;
  /** Timers of one moment fire in the order in which they were set. */
  readonly order: number;
  readonly work: () => void;
  cancelled: boolean;
}

/** What all runs begin at, ms since the epoch. */
export const BEGINNING = 1_700_000_000_000;

/** Why a run of the scheduler ended. `dead`: nobody waits for any time any more. */
export type RunEnd = 'over' | 'late' | 'dead';

/**
 * Virtual time of a whole world. It moves only when nothing else can run: the embedded store yields with
 * `setImmediate`, so that what is under way in it is counted, and promises are through after one turn of the loop.
 */
export class Scheduler {
  private time = BEGINNING;
  private readonly heap: Timer[] = [];
  private orders = 0;
  private working = 0;

  readonly now = (): number => this.time;

  /** Calls `work` at a time; returns how to prevent it. */
  at(time: number, work: () => void): () => void {
    const timer = { at: Math.max(time, this.time), order: this.orders++, work, cancelled: false };
    push(this.heap, timer);
    return () => {
      timer.cancelled = true;
    };
  }

  after(ms: number, work: () => void): () => void {
    return this.at(this.time + ms, work);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Holds time back while real work is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.working++;
    try {
      return await work();
    } finally {
      this.working--;
    }
  }

  /** A turn of the event loop, as the product's clock gives it. */
  breathe(): Promise<void> {
    return this.during(() => new Promise((resolve) => setImmediate(resolve)));
  }

  /** Runs until it is over, or the time `until` has come. */
  async run(isOver: () => boolean, until: number): Promise<RunEnd> {
    for (;;) {
      await this.rest();
      if (isOver()) return 'over';
      const timer = pop(this.heap);
      if (!timer) return 'dead';
      if (timer.cancelled) continue;
      if (timer.at > until) {
        push(this.heap, timer);
        this.time = until;
        return 'late';
      }
      this.time = timer.at;
      timer.work();
    }
  }

  private async rest(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.working > 0);
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Timer[], timer: Timer): void {
  let at = heap.push(timer) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(timer, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = timer;
}

function pop(heap: Timer[]): Timer | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (!first || !last || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
