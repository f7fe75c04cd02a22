import { once } from 'node:events';
import { Router, type Response } from 'express';
import type { Outcome } from '../../model/states';
import type { JobRecord, Store } from '../../store';
import type { ApiContext } from '../context';
import { Problem } from '../problems';
import { itemsQuery, resultsQuery } from '../schemas';
import { cursor, parse } from '../validation';
import { itemJson } from '../views';
import { findJob } from './jobs';

/** While results stream, so many items are read from the store at first, at most, and as make about so many characters. */
const FIRST_PAGE = 20;
const LARGEST_PAGE = 500;
const PAGE_CHARS = 500_000;

/** As many items as come near to PAGE_CHARS, by the size of the last ones. */
function nextPage(items: number, chars: number): number {
  return Math.max(1, Math.min(LARGEST_PAGE, items * 4, Math.floor((items * PAGE_CHARS) / (chars + 1))));
}

type Read = (limit: number) => Promise<{ lines: readonly object[]; more: boolean }>;

/** Outcomes of a job, page by page. */
function outcomesOf(store: Store, job: JobRecord, filter: { outcome?: Outcome }): Read {
  let after = -1;
  return async (limit) => {
    const items = await store.items(job, { after, limit, ...filter });
    after = items[items.length - 1]?.index ?? after;
    return { lines: items.filter((item) => item.body !== null).map(itemJson), more: items.length === limit };
  };
}

/** The newest outcomes over the job's lineage, page by page, each with the job that it is from. */
function newestOf(store: Store, job: JobRecord, filter: { outcome?: Outcome }): Read {
  let after: string | null = null;
  return async (limit) => {
    const { items, next } = await store.lineageItems(job, { after, limit, ...filter });
    after = next;
    return { lines: items.map(({ jobId, item }) => ({ ...itemJson(item), job: jobId })), more: next !== null };
  };
}

/** Writes what `read` gives, a line each, to its end. The reader sets the pace; one that goes away ends it. */
async function writeLines(response: Response, read: Read): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  let limit = FIRST_PAGE;
  for (let more = true; more && !gone.signal.aborted;) {
    const page = await read(limit);
    const text = page.lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    if (!response.write(text)) await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
    more = page.more;
    limit = nextPage(limit, text.length);
  }
  response.end();
}

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
    const { outcome } = query;
    const filter = outcome ? { outcome } : {};
    if (query.lineage === 'all') return writeLines(response, newestOf(store, job, filter));
    await writeLines(response, outcomesOf(store, job, filter));
  });

  return router;
}
