import { Router } from 'express';
import type { ApiContext } from '../context';
import type { EventStreams } from '../events';
import { eventsQuery } from '../schemas';
import { parse } from '../validation';
import { findJob } from './jobs';

export function eventRoutes(context: ApiContext, streams: EventStreams): Router {
  const router = Router();

  router.get('/v1/jobs/:id/events', async (request, response) => {
    const query = parse(eventsQuery, request.query, 'invalid_request', 'the query does not fit its schema');
    const job = await findJob(context, request);
    // Express lets a GET answer a HEAD, whose stream would have nothing in it and no end.
    if (request.method === 'HEAD') return void response.type('text/event-stream').end();
    await streams.serve(response, job, { lastEventId: request.get('last-event-id'), all: query.log });
  });

  return router;
}
