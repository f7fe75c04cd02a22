import { Router, type Response } from 'express';
import type { DeadLetter, DeadLetterDetail, NewJob, JobRecord } from '../../store';
import type { ApiContext } from '../context';
import {
  deadLettersQuery,
  replaySchema,
  retrySchema,
  type DeadLetterDetailJson,
  type DeadLetterJson,
  type RetryRequest,
} from '../lineage-schemas';
import { Problem } from '../problems';
import { readRequest, retryJob } from '../retry';
import { cursor, parse } from '../validation';
import { jobJson } from '../views';
import { begin, findJob, untouched } from './jobs';

const MISFIT = 'the request does not fit its schema';

/** Running again what did not succeed. The replay of a dead letter is a retry of its item. */
export function retryRoutes(context: ApiContext): Router {
  const router = Router();
  const { store } = context.runtime;

  const retry = async (
    response: Response,
    of: JobRecord,
    request: RetryRequest,
    idempotency: NewJob['idempotency'],
  ): Promise<void> => {
    const { job, created, leftOut } = await retryJob(context, of, request, idempotency);
    if (created) begin(context, job);
    const counts = created ? untouched(job) : await store.counts(job);
    response
      .status(202)
      .location(`/v1/jobs/${job.id}`)
      .json({ ...jobJson(job, counts, context.queue), leftOut });
  };

  router.post('/v1/jobs/:id/retry', async (request, response) => {
    const { value, idempotency } = await readRequest(request);
    const body = parse(retrySchema, value, 'invalid_request', MISFIT);
    await retry(response, await findJob(context, request), body, idempotency);
  });

  router.get('/v1/dead-letters', async (request, response) => {
    const query = parse(deadLettersQuery, request.query, 'invalid_request', 'the query does not fit its schema');
    const before = cursor(query.after);
    const of = query.job === undefined ? undefined : await store.job(query.job, context.tenant);
    if (query.job !== undefined && !of)
      throw new Problem('job_not_found', `there is no job ${JSON.stringify(query.job)}`);
    const letters = await store.deadLetters({
      tenant: context.tenant,
      limit: query.limit,
      ...(before !== undefined && { before }),
      ...(of && { jobNo: of.no }),
      ...(query.capability !== undefined && { capability: query.capability }),
      ...(query.code !== undefined && { code: query.code }),
      ...(query.replayed !== undefined && { replayed: query.replayed === 'true' }),
    });
    const last = letters.length === query.limit ? letters[letters.length - 1] : undefined;
    response.json({ deadLetters: letters.map(letterJson), next: last ? String(last.no) : null });
  });

  router.get('/v1/dead-letters/:id', async (request, response) => {
    response.json(detailJson(await findLetter(context, request.params['id'])));
  });

  router.post('/v1/dead-letters/:id/replay', async (request, response) => {
    const { value, idempotency } = await readRequest(request);
    const { openCalls } = parse(replaySchema, value, 'invalid_request', MISFIT);
    const letter = await findLetter(context, request.params['id']);
    const of = await store.job(letter.jobId, context.tenant);
    if (!of) throw noLetter(request.params['id']);
    await retry(response, of, { items: [letter.itemId], openCalls }, idempotency);
  });

  return router;
}

/** @throws Problem dead_letter_not_found */
async function findLetter({ runtime, tenant }: ApiContext, id: string): Promise<DeadLetterDetail> {
  const letter = /^\d{1,15}$/.test(id) ? await runtime.store.deadLetter(Number(id), tenant) : undefined;
  if (!letter) throw noLetter(id);
  return letter;
}

function noLetter(id: string): Problem {
  return new Problem('dead_letter_not_found', `there is no dead letter ${JSON.stringify(id)}`);
}

function letterJson(letter: DeadLetter): DeadLetterJson {
  const { no, jobId, capability, itemId, at, attempts, error, replayedBy } = letter;
  return {
    ...{ id: String(no), job: jobId, capability, item: itemId, at: new Date(at).toISOString(), attempts },
    error: error as DeadLetterJson['error'],
    replayedBy,
  };
}

function detailJson(letter: DeadLetterDetail): DeadLetterDetailJson {
  const { input, params, labels, openCalls } = letter;
  return {
    ...letterJson(letter),
    ...{ input, params, labels: { ...labels }, openCalls: openCalls.map((call) => ({ ...call })) },
  };
}
