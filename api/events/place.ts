import type { JobRecord, Store } from '../../store';

/** Where in a job's log a stream begins. */
export interface Place {
  /** Lines behind this one are sent. */
  readonly after: number;
  /** Why the stream starts over, though the reader had been further; undefined where it does not. */
  readonly reset?: string;
}

const BEGINNING: Place = { after: 0 };

/** The place that a reader was last at, as its Last-Event-ID says; the beginning where that is no place of this job. */
export async function findPlace(
  store: Pick<Store, 'log'>,
  job: JobRecord,
  lastEventId: string | undefined,
): Promise<Place> {
  if (lastEventId === undefined || lastEventId === '') return BEGINNING;
  if (!/^\d{1,15}$/.test(lastEventId)) return { after: 0, reset: 'the Last-Event-ID is not one that was given out' };
  const no = Number(lastEventId);
  const [line] = await store.log(job.no, { after: no - 1, limit: 1 });
  if (line?.no === no) return { after: no };
  return { after: 0, reset: 'the Last-Event-ID is not of this job, or is not kept any more' };
}
