import type { ItemCounts, JobRecord } from '../../store';
import type { JobJson } from '../schemas';
import type { Bell } from './bell';
import { HEARTBEAT, deletedFrame, endFrame, jobFrame, resetFrame } from './frames';
import type { Hub } from './hub';
import type { Outlet } from './outlet';
import type { Place } from './place';

/** A reader hears something at least this often, ms: what is silent for longer is broken. */
export const HEARTBEAT_MS = 15_000;

/** After a page that could not be read, ms. */
const RETRY_MS = 1_000;

export interface Reader {
  readonly hub: Hub;
  /** Rung by the hub, and when the outlet is closed. */
  readonly bell: Bell;
  readonly outlet: Outlet;
  /** Where in the job's log it begins. */
  readonly place: Place;
  /** Whether it wants all lines of the log, or only changes of state. */
  readonly all: boolean;
  readonly toJson: (job: JobRecord, counts: ItemCounts) => JobJson;
}

/**
 * Sends a job's events until its end, or until the reader is gone. The reader sets the pace: the next piece is read
 * when the last one is taken, and of the counts only the newest is sent.
 */
export async function stream(reader: Reader): Promise<void> {
  const { hub, bell, outlet, place } = reader;
  if (place.reset !== undefined) await outlet.send(resetFrame(place.reset));
  let shown = hub.progress;
  await outlet.send(now(reader, jobFrame));
  for (let { after } = place; !outlet.closed;) {
    // Read first: what was written before the end is sent before it is told.
    const { over } = hub;
    const page = await hub.page(after, reader.all);
    if (page) {
      await outlet.send(page.text);
      const more = page.upTo > after;
      after = page.upTo;
      if (more) continue;
      if (over) return tellEnd(reader);
      if (shown !== hub.progress) {
        shown = hub.progress;
        await outlet.send(shown);
        continue;
      }
    }
    const heard = await bell.wait(page ? HEARTBEAT_MS : RETRY_MS);
    if (!heard && page) await outlet.send(HEARTBEAT);
  }
}

async function tellEnd(reader: Reader): Promise<void> {
  const { hub, outlet } = reader;
  await outlet.send(hub.gone ? deletedFrame(hub.id) : now(reader, endFrame));
  if (!outlet.closed) outlet.end();
}

function now({ hub, toJson }: Reader, frame: (job: JobJson) => string): string {
  return hub.view ? frame(toJson(hub.view.job, hub.view.counts)) : '';
}
