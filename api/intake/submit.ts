import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import type { Payload } from '../../contract';
import type { Plan } from '../../model/plan';
import { IdempotencyConflict, isStorableName, type JobRecord, type NewJob } from '../../store';
import type { ApiContext } from '../context';
import { Problem } from '../problems';
import { headSchema, type SubmitHead } from '../schemas';
import { parse, toIssueList } from '../validation';
import { Body } from './body';
import { readJson } from './json';
import { readNdjson } from './ndjson';
import { Upload } from './upload';

const NDJSON = 'application/x-ndjson';

/**
 * Takes a submit in: items stream into an upload that nobody sees, and one transaction makes it a job. Whatever goes
 * wrong before that leaves nothing.
 * @throws Problem
 */
export async function submit(context: ApiContext, request: Request): Promise<{ job: JobRecord; created: boolean }> {
  const ndjson = contentType(request) === NDJSON;
  const key = idempotencyKey(request);
  // With NDJSON the head stands in the query, so it is checked before a single item is read.
  const early = ndjson ? checkHead(context, headOfQuery(request)) : undefined;
  const { store, config } = context.runtime;
  const body = new Body(
    request,
    config.maxBodyBytes,
    ndjson ? new URL(request.originalUrl, 'http://localhost').search : '',
  );
  const upload = new Upload(store, await store.openUpload(context.tenant), config.maxItems);
  try {
    const rest = ndjson ? await readNdjson(body.chunks(), upload) : await readJson(body.chunks(), upload);
    if (upload.items === 0) throw new Problem('no_items', 'the job has no items');
    const head = early ?? checkHead(context, rest ?? {});
    const idempotency = key === undefined ? null : { key, bodyHash: body.digest() };
    const sealed = await store.seal(upload.no, newJob(context, head, upload.items, idempotency));
    if (!sealed.created) await store.dropUpload(upload.no);
    return sealed;
  } catch (error) {
    // If this fails too, the sweep drops the upload when it has been idle for long enough.
    await store.dropUpload(upload.no).catch(() => undefined);
    if (error instanceof IdempotencyConflict) {
      throw new Problem(
        'idempotency_conflict',
        `the idempotency key ${JSON.stringify(key)} belongs to a job with another body`,
      );
    }
    throw error;
  }
}

function contentType(request: Request): string {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new Problem('unsupported_media_type', `the content encoding ${encoding} is not taken`);
  if (type === NDJSON || type === 'application/json') return type;
  throw new Problem('unsupported_media_type', `the content type ${type ?? '(none)'} is not taken`);
}

function idempotencyKey(request: Request): string | undefined {
  const key = request.get('idempotency-key');
  if (key === undefined) return undefined;
  if (key.length === 0 || key.length > 256 || !isStorableName(key)) {
    throw new Problem('invalid_request', 'an Idempotency-Key has 1 to 256 characters');
  }
  return key;
}

/** Fields of the query that are not texts are JSON. */
function headOfQuery(request: Request): Record<string, unknown> {
  const head: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(request.query)) {
    if (typeof value !== 'string') throw new Problem('invalid_request', `the query has ${field} more than once`);
    if (field === 'capability') head[field] = value;
    else head[field] = parseField(field, value);
  }
  return head;
}

function parseField(field: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem('invalid_request', `${field} in the query is not JSON`, {
      issues: [{ path: field, message: 'not JSON' }],
    });
  }
}

interface CheckedHead extends SubmitHead {
  readonly payload: Payload;
}

function checkHead(context: ApiContext, raw: Record<string, unknown>): CheckedHead {
  const head = parse(headSchema.strict(), raw, 'invalid_request', 'the request does not fit its schema');
  const payload = context.runtime.registry.get(head.capability);
  if (!payload) {
    const known = context.runtime.registry.list().map((entry) => entry.capability);
    throw new Problem(
      'unknown_capability',
      `there is no capability ${JSON.stringify(head.capability)}; there are ${known.join(', ')}`,
    );
  }
  const params = payload.params.safeParse(head.params ?? {});
  if (!params.success) {
    throw new Problem('invalid_params', `the params do not fit ${payload.capability}`, {
      issues: toIssueList(params.error),
    });
  }
  return { ...head, payload };
}

/** What the job is promised: its own options, within the payload's limits, pinned now. */
function planOf(head: CheckedHead): Plan {
  const { limits, batches } = head.payload;
  const { options = {} } = head;
  return {
    tuning: {
      window: Math.min(options.concurrency ?? limits.concurrency, limits.concurrency),
      unitMax: limits.unitMax,
      batch: batches ? limits.batch : null,
    },
    itemTimeoutMs: limits.itemTimeoutMs,
    maxAttempts: Math.min(options.maxAttempts ?? limits.maxAttempts, limits.maxAttempts),
    backoff: limits.backoff,
    deferral: limits.deferral,
  };
}

function newJob(context: ApiContext, head: CheckedHead, items: number, idempotency: NewJob['idempotency']): NewJob {
  return {
    id: `job-${randomUUID()}`,
    tenant: context.tenant,
    caller: context.caller,
    capability: head.payload.capability,
    params: head.params ?? {},
    labels: head.labels ?? {},
    plan: planOf(head),
    items,
    idempotency,
  };
}
