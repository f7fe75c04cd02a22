import type { ApiClient } from '../client/api';
import type { JobEvent } from '../client/events';
import { Interrupted, Unreachable } from '../failure';
import type { Clock } from '../session';
import { patiently } from './patience';

/** An API that takes connections and breaks them off is not asked more often than this, ms. */
const BETWEEN_MS = 500;

export interface EventsOptions {
  readonly api: Pick<ApiClient, 'events'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told when the API goes away and when it is back. */
  readonly notice: (message: string) => void;
  /** All lines of the log. */
  readonly log?: boolean;
}

/**
 * A job's events to its end, over restarts and outages of the API: each connection goes on where the last one broke off.
 * @throws Interrupted when `signal` is aborted; Unreachable when the API stays away; ApiProblem when it refuses.
 */
export async function* followEvents(id: string, options: EventsOptions): AsyncGenerator<JobEvent> {
  const { api, clock, signal, log } = options;
  let lastEventId: string | undefined;
  for (;;) {
    const from = clock.now();
    const connection = await patiently(() => open(api.events(id, { lastEventId, log })), options);
    for await (const event of untilBroken(connection)) {
      if (event.kind === 'reset') lastEventId = undefined;
      if (event.kind === 'state' || event.kind === 'log') lastEventId = event.id;
      yield event;
      if (event.kind === 'end' || event.kind === 'deleted') return;
    }
    const early = from + BETWEEN_MS - clock.now();
    if (early > 0) await clock.sleep(early, signal);
    if (signal.aborted) throw new Interrupted();
  }
}

interface Connection {
  readonly first: JobEvent;
  readonly rest: AsyncGenerator<JobEvent>;
}

/** A connection is there when its first event is. */
async function open(events: AsyncGenerator<JobEvent>): Promise<Connection> {
  const first = await events.next();
  if (first.done) throw new Unreachable('the API ends the stream of events before it begins');
  return { first: first.value, rest: events };
}

/** Its events; a connection that breaks ends as one that is ended. */
async function* untilBroken({ first, rest }: Connection): AsyncGenerator<JobEvent> {
  try {
    yield first;
    yield* rest;
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
  } finally {
    // Whoever has seen enough leaves no connection behind.
    await rest.return(undefined);
  }
}
