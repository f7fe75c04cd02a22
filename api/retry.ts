import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { planOf, type Plan } from '../model/plan';
import {
  IdempotencyConflict,
  LineageBusy,
  NotRetryable,
  type JobRecord,
  type NewJob,
  type Retried,
  type RetrySelection,
} from '../store';
import type { ApiContext } from './context';
import { Body } from './intake/body';
import { idempotencyKey } from './intake/submit';
import type { RetryRequest } from './lineage-schemas';
import { Problem } from './problems';

/** Largest body of a request to retry, bytes: 300,000 ids fit. */
const MAX_BYTES = 20_000_000;

/** Ids that a problem names. */
const NAMED = 100;

/** The JSON of a small request, and the key under which it is made once. @throws Problem */
export async function readRequest(
  request: Request,
): Promise<{ readonly value: unknown; readonly idempotency: NewJob['idempotency'] }> {
  const key = idempotencyKey(request);
  const body = new Body(request, MAX_BYTES, request.originalUrl);
  const chunks: Buffer[] = [];
  for await (const chunk of body.chunks()) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const idempotency = key === undefined ? null : { key, bodyHash: body.digest() };
  if (text.trim() === '') return { value: {}, idempotency };
  if (!request.is('application/json')) throw new Problem('unsupported_media_type', 'send application/json, or no body');
  try {
    return { value: JSON.parse(text) as unknown, idempotency };
  } catch (error) {
    throw new Problem('invalid_json', `the body is not JSON: ${(error as Error).message}`);
  }
}

/**
 * Makes a job that runs items of `of` again, with its params, its limits and its journal.
 * @throws Problem
 */
export async function retryJob(
  context: ApiContext,
  of: JobRecord,
  { labels, options, ...selection }: RetryRequest,
  idempotency: NewJob['idempotency'],
): Promise<Retried> {
  const job = {
    id: `job-${randomUUID()}`,
    tenant: of.tenant,
    caller: context.caller,
    capability: of.capability,
    params: of.params,
    labels: { ...of.labels, ...labels },
    plan: options ? planFor(context, of, options) : of.plan,
    idempotency,
  };
  try {
    return await context.runtime.store.retry(of, selection as RetrySelection, job);
  } catch (error) {
    throw toProblem(error);
  }
}

function planFor({ runtime }: ApiContext, of: JobRecord, options: NonNullable<RetryRequest['options']>): Plan {
  const payload = runtime.registry.get(of.capability);
  if (!payload) throw new Problem('unknown_capability', `${of.capability} is not served here, and has the limits`);
  return planOf(payload, options);
}

function toProblem(error: unknown): unknown {
  if (error instanceof LineageBusy) return new Problem('job_not_terminal', error.message, { job: error.jobId });
  if (error instanceof NotRetryable) {
    const { why, itemIds, leftOut, message } = error;
    return new Problem('not_retryable', message, { why, items: itemIds.slice(0, NAMED), leftOut });
  }
  if (error instanceof IdempotencyConflict) return new Problem('idempotency_conflict', error.message);
  return error;
}
