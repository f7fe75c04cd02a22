/**
 * A job's events as a stream (SSE).
 *
 *   watcher.ts  looks at the store, once for all streams     hub.ts     what the readers of one job share
 *   stream.ts   what one reader is sent, and when            outlet.ts  its connection: never more than it takes
 *   place.ts    where a reader goes on                       frames.ts  the text of the events
 */
import type { Response } from 'express';
import type { ItemCounts, JobRecord } from '../../store';
import type { ApiContext } from '../context';
import type { JobJson } from '../schemas';
import { jobJson } from '../views';
import { Bell } from './bell';
import { PREAMBLE } from './frames';
import { OpenStreams } from './open-streams';
import { Outlet } from './outlet';
import { findPlace } from './place';
import { stream } from './stream';
import { Watcher } from './watcher';

export { MAX_STREAMS } from './open-streams';

export interface Wish {
  readonly lastEventId: string | undefined;
  /** All lines of the log, not only changes of state. */
  readonly all: boolean;
}

/** The event streams of an API process. */
export class EventStreams {
  private readonly streams: OpenStreams;
  private readonly watcher: Watcher;

  constructor(private readonly context: ApiContext) {
    this.streams = new OpenStreams(context.closing);
    this.watcher = new Watcher(context.runtime.store, context.runtime.log);
  }

  /** Streams that are open now. */
  get open(): number {
    return this.streams.size;
  }

  /**
   * Answers with the job's events, to its end.
   * @throws Problem too_many_streams, or StoreUnavailable, before anything is sent.
   */
  async serve(response: Response, job: JobRecord, { lastEventId, all }: Wish): Promise<void> {
    declare(response);
    const bell = new Bell();
    let give = (): void => undefined;
    const outlet = new Outlet(response, () => {
      give();
      bell.ring();
    });
    give = this.streams.enter(() => outlet.stop());
    try {
      const place = await findPlace(this.context.runtime.store, job, lastEventId);
      const { hub, leave } = await this.watcher.join(job, bell);
      try {
        if (!outlet.closed) response.flushHeaders();
        await outlet.send(PREAMBLE);
        await stream({ hub, bell, outlet, place, all, toJson: this.toJson });
      } finally {
        leave();
      }
    } finally {
      give();
    }
  }

  private readonly toJson = (job: JobRecord, counts: ItemCounts): JobJson => jobJson(job, counts, this.context.queue);
}

/** Not sent yet: an error has its own. A stream that ends before it has begun is one all the same, and is asked for again. */
function declare(response: Response): void {
  response.set({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // Proxies such as nginx collect an answer before they pass it on, unless told not to.
    'x-accel-buffering': 'no',
  });
}
