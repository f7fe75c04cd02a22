import { once } from 'node:events';
import { Router } from 'express';
import type { ApiContext } from '../context';
import { Problem } from '../problems';
import { itemsQuery, resultsQuery } from '../schemas';
import { cursor, parse } from '../validation';
import { itemJson } from '../views';
import { findJob } from './jobs';

/** Items read from the store at a time while results stream. */
const PAGE = 500;

export function itemRoutes(context: ApiContext): Router {
  const router = Router();
  const { store } = context.runtime;

  router.get('/v1/jobs/:id/items', async (request, response) => {
    const query = parse(itemsQuery, request.query, 'invalid_request', 'the query does not fit its schema');
    const job = await findJob(context, request);
    const items = await store.items(job, {
      after: cursor(query.after) ?? -1,
      limit: query.limit,
      ...(query.outcome && { outcome: query.outcome }),
    });
    const last = items.length === query.limit ? items[items.length - 1] : undefined;
    response.json({ items: items.map(itemJson), next: last ? String(last.index) : null });
  });

  router.get('/v1/jobs/:id/items/:itemId', async (request, response) => {
    const job = await findJob(context, request);
    const item = await store.item(job, request.params['itemId']);
    if (!item) throw new Problem('item_not_found', `the job has no item ${JSON.stringify(request.params['itemId'])}`);
    response.json(itemJson(item));
  });

  /** One item with an outcome a line, in the order of the upload; also while the job runs. */
  router.get('/v1/jobs/:id/results', async (request, response) => {
    const query = parse(resultsQuery, request.query, 'invalid_request', 'the query does not fit its schema');
    const job = await findJob(context, request);
    response.type('application/x-ndjson');
    let gone = false;
    response.on('close', () => (gone = true));
    for (let after = -1; !gone;) {
      const items = await store.items(job, { after, limit: PAGE, ...(query.outcome && { outcome: query.outcome }) });
      const lines = items.filter((item) => item.body !== null).map((item) => `${JSON.stringify(itemJson(item))}\n`);
      if (!response.write(lines.join('')) && !gone)
        await Promise.race([once(response, 'drain'), once(response, 'close')]);
      const last = items[items.length - 1];
      if (items.length < PAGE || !last) break;
      after = last.index;
    }
    response.end();
  });

  return router;
}
