import { Router, type Request } from 'express';
import { isTerminal } from '../../model/states';
import { cancelJob, pauseJob, resumeJob, startJob } from '../../queue';
import type { ItemCounts, JobRecord } from '../../store';
import type { ApiContext } from '../context';
import { submit } from '../intake/submit';
import { Problem } from '../problems';
import { jobQuery, jobsQuery, logQuery, type JobJson } from '../schemas';
import { cursor, parse } from '../validation';
import { jobJson } from '../views';
import { waitForEnd } from '../wait';
import { why } from '../why';

const QUERY = 'the query does not fit its schema';

/** The job of the path. @throws Problem job_not_found */
export async function findJob(context: ApiContext, request: Request): Promise<JobRecord> {
  const id = String(request.params['id']);
  const job = await context.runtime.store.job(id, context.tenant);
  if (!job) throw new Problem('job_not_found', `there is no job ${JSON.stringify(id)}`);
  return job;
}

async function view(context: ApiContext, job: JobRecord): Promise<JobJson> {
  return jobJson(job, await context.runtime.store.counts(job), context.queue);
}

/** Starts a sealed job. Sealed is accepted: no answer waits for Temporal, and what fails here the sweep does. */
export function begin({ lifecycle, runtime }: ApiContext, job: JobRecord): void {
  startJob(lifecycle, job).catch((error: unknown) =>
    runtime.log.warn({ err: error, job: job.id }, 'the job is accepted, and not started yet'),
  );
}

/** Counts of a job as it was sealed. No read of the store, which could fail, stands between the seal and the answer. */
export function untouched(job: JobRecord): ItemCounts {
  return { ...job.outcomes, pending: job.items, running: 0, waiting: 0, deferred: 0 };
}

export function jobRoutes(context: ApiContext): Router {
  const router = Router();
  const { store } = context.runtime;

  router.post('/v1/jobs', async (request, response) => {
    const { job, created } = await submit(context, request);
    if (created) begin(context, job);
    response
      .status(202)
      .location(`/v1/jobs/${job.id}`)
      .json(created ? jobJson(job, untouched(job), context.queue) : await view(context, job));
  });

  router.get('/v1/jobs', async (request, response) => {
    const query = parse(jobsQuery, request.query, 'invalid_request', QUERY);
    const before = cursor(query.after);
    const [key = '', ...value] = query.label?.split(':') ?? [];
    const jobs = await store.jobs({
      tenant: context.tenant,
      limit: query.limit,
      ...(before !== undefined && { before }),
      ...(query.state && { state: query.state }),
      ...(query.capability !== undefined && { capability: query.capability }),
      ...(query.label !== undefined && { label: { key, value: value.join(':') } }),
    });
    const last = jobs.length === query.limit ? jobs[jobs.length - 1] : undefined;
    response.json({
      jobs: await Promise.all(jobs.map((job) => view(context, job))),
      next: last ? String(last.no) : null,
    });
  });

  router.get('/v1/jobs/:id', async (request, response) => {
    const { wait } = parse(jobQuery, request.query, 'invalid_request', QUERY);
    let job = await findJob(context, request);
    if (wait > 0 && !isTerminal(job.state)) {
      const gone = new AbortController();
      response.on('close', () => gone.abort());
      job = await waitForEnd(store, job, wait * 1_000, AbortSignal.any([gone.signal, context.closing]));
    }
    response.json(await view(context, job));
  });

  router.delete('/v1/jobs/:id', async (request, response) => {
    const job = await findJob(context, request);
    if (!(await store.deleteJob(job.no)))
      throw new Problem('job_not_terminal', `the job is ${job.state}; only one that has ended can be deleted`);
    response.status(204).end();
  });

  router.post('/v1/jobs/:id/cancel', async (request, response) => {
    const job = await findJob(context, request);
    response.json(await view(context, await cancelJob(context.lifecycle, job, context.caller)));
  });

  router.post('/v1/jobs/:id/pause', async (request, response) => {
    const job = await pauseJob(context.lifecycle, await findJob(context, request));
    if (!job.paused) throw new Problem('not_possible_now', `a job that is ${job.state} cannot be paused`);
    response.json(await view(context, job));
  });

  router.post('/v1/jobs/:id/resume', async (request, response) => {
    const before = await findJob(context, request);
    if (before.state !== 'paused' && before.state !== 'running') {
      throw new Problem('not_possible_now', `a job that is ${before.state} cannot be resumed`);
    }
    response.json(await view(context, await resumeJob(context.lifecycle, before)));
  });

  router.get('/v1/jobs/:id/why', async (request, response) => {
    response.json(await why(context, await findJob(context, request)));
  });

  router.get('/v1/jobs/:id/log', async (request, response) => {
    const { after, limit, level, source } = parse(logQuery, request.query, 'invalid_request', QUERY);
    const job = await findJob(context, request);
    const lines = await store.log(job.no, {
      after: cursor(after) ?? 0,
      limit,
      ...(level && { level }),
      ...(source && { source }),
    });
    const last = lines.length === limit ? lines[lines.length - 1] : undefined;
    response.json({
      lines: lines.map((line) => ({ ...line, at: new Date(line.at).toISOString() })),
      next: last ? String(last.no) : null,
    });
  });

  return router;
}
