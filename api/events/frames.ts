/** The events of a job's stream as text of `text/event-stream`. JSON has no line breaks, so that each is one `data:`. */
import type { ItemCounts, JobRecord, LogLine } from '../../store';
import type { JobJson, LogLineJson, ProgressJson } from '../schemas';

/** How long a browser waits before it connects again, ms. */
const RETRY_MS = 2_000;

/** Told first, whatever follows. */
export const PREAMBLE = `retry: ${RETRY_MS}\n\n`;

/** A comment, which clients skip: the connection is alive, and a reader that is gone is found out. */
export const HEARTBEAT = ':\n\n';

function frame(event: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The whole job as it is when a stream begins. It has no id: it stands for no place in the log. */
export const jobFrame = (job: JobJson): string => frame('job', job);

/** The whole job as it ended. */
export const endFrame = (job: JobJson): string => frame('end', job);

/** How far the job is. The next one makes up for one that was missed, so that it needs no id. */
export function progressFrame(job: JobRecord, counts: ItemCounts): string {
  const progress: ProgressJson = { state: job.state, items: job.items, counts };
  return frame('progress', progress);
}

/** A line of the job's log, `state` where the job's state changed with it. Its number is what a stream resumes from. */
export function lineFrame(line: LogLine): string {
  return frame(line.state === null ? 'log' : 'state', lineJson(line), String(line.no));
}

/** Forgets the client's last id, and says why all comes again. */
export const resetFrame = (reason: string): string => frame('reset', { reason }, '');

/** The job was deleted while it was watched. */
export const deletedFrame = (id: string): string => frame('deleted', { id });

export function lineJson(line: LogLine): LogLineJson {
  return { ...line, at: new Date(line.at).toISOString() };
}
