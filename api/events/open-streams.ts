import { Problem } from '../problems';

/** Most streams that are open at once in a process. */
export const MAX_STREAMS = 1_000;

/** The streams that are open: so many and no more, and none when the API shuts down. */
export class OpenStreams {
  private readonly stops = new Set<() => void>();

  constructor(
    private readonly closing: AbortSignal,
    private readonly most = MAX_STREAMS,
  ) {
    closing.addEventListener('abort', () => {
      for (const stop of [...this.stops]) stop();
    });
  }

  get size(): number {
    return this.stops.size;
  }

  /**
   * Takes a place. `stop` is called when the API shuts down. Returns how to give the place back.
   * @throws Problem too_many_streams
   */
  enter(stop: () => void): () => void {
    if (this.stops.size >= this.most)
      throw new Problem('too_many_streams', `${this.most} event streams are open in this process`);
    if (this.closing.aborted) stop();
    this.stops.add(stop);
    return () => this.stops.delete(stop);
  }
}
