import type { EventSourceMessage } from 'eventsource-parser';
import type { JobJson, LogLineJson, ProgressJson } from '../../api';
import { EXIT } from '../exit-codes';
import { CliError } from '../failure';
import { lazy } from '../lazy';
import type { Http } from './http';

/** What the API tells of a job that is followed. A state or a log line has the id that the stream is resumed with. */
export type JobEvent =
  | { readonly kind: 'job' | 'end'; readonly job: JobJson }
  | { readonly kind: 'progress'; readonly progress: ProgressJson }
  | { readonly kind: 'state' | 'log'; readonly id: string; readonly line: LogLineJson }
  /** The stream starts over: ids from before lead nowhere. */
  | { readonly kind: 'reset'; readonly reason: string }
  | { readonly kind: 'deleted' };

export interface EventsFrom {
  /** The last id that was received. */
  readonly lastEventId?: string | undefined;
  /** All lines of the log. */
  readonly log?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** The API says something every 15 s: what is silent for longer than this is broken, ms. */
const SILENCE_MS = 45_000;

const TYPE = 'text/event-stream';

/** One connection's events; ends when the API ends it, which it also does when it stops. @throws as `Http.bytes` */
export async function* readEvents(http: Http, path: string, from: EventsFrom): AsyncGenerator<JobEvent> {
  const { lastEventId, log, signal } = from;
  const bytes = http.bytes({
    path,
    query: { log: log ? 'true' : undefined },
    headers: { accept: TYPE, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    signal,
    silenceMs: SILENCE_MS,
    answer: TYPE,
  });
  const decoder = new TextDecoder();
  let messages: EventSourceMessage[] = [];
  const parser = lazy.eventsource().createParser({ onEvent: (message) => messages.push(message) });
  for await (const chunk of bytes) {
    messages = [];
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const message of messages) {
      const event = toEvent(message, http.url);
      if (event) yield event;
    }
  }
}

/** Undefined for a kind that a newer API has. */
function toEvent({ event, id = '', data }: EventSourceMessage, url: string): JobEvent | undefined {
  const value = parse(data, url);
  switch (event) {
    case 'job':
    case 'end':
      return { kind: event, job: value as JobJson };
    case 'progress':
      return { kind: event, progress: value as ProgressJson };
    case 'state':
    case 'log':
      return { kind: event, id, line: value as LogLineJson };
    case 'reset':
      return { kind: event, reason: (value as { reason: string }).reason };
    case 'deleted':
      return { kind: event };
    default:
      return undefined;
  }
}

function parse(data: string, url: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new CliError(`what answers at ${url} is not Itemwise`, EXIT.unexpected, { cause: error });
  }
}
