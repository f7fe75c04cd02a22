import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { planOf } from '../../model/plan';
import { IdempotencyConflict, isStorableName, type JobRecord, type NewJob } from '../../store';
import type { ApiContext } from '../context';
import { Problem } from '../problems';
import { Body } from './body';
import { Head, type CheckedHead } from './head';
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
  const { store, config, registry } = context.runtime;
  const head = new Head(registry);
  if (ndjson) {
    // With NDJSON the head stands in the query, so it is checked before a single item is read.
    readQuery(request, head);
    head.complete();
  }
  const body = new Body(
    request,
    config.maxBodyBytes,
    ndjson ? new URL(request.originalUrl, 'http://localhost').search : '',
  );
  const upload = new Upload(store, await store.openUpload(context.tenant), config.maxItems);
  try {
    await (ndjson ? readNdjson(body.chunks(), upload) : readJson(body.chunks(), upload, head));
    if (upload.items === 0) throw new Problem('no_items', 'the job has no items');
    const idempotency = key === undefined ? null : { key, bodyHash: body.digest() };
    const sealed = await store.seal(upload.no, newJob(context, head.complete(), upload.items, idempotency));
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

/** @throws Problem when it is none. */
export function idempotencyKey(request: Request): string | undefined {
  const key = request.get('idempotency-key');
  if (key === undefined) return undefined;
  if (key.length === 0 || key.length > 256 || !isStorableName(key)) {
    throw new Problem('invalid_request', 'an Idempotency-Key has 1 to 256 characters');
  }
  return key;
}

/** Fields of the query that are not texts are JSON. */
function readQuery(request: Request, head: Head): void {
  for (const [field, value] of Object.entries(request.query)) {
    head.announce(field);
    if (typeof value !== 'string') throw new Problem('invalid_request', `the query has ${field} more than once`);
    head.set(field, field === 'capability' ? value : parseField(field, value));
  }
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

function newJob(context: ApiContext, head: CheckedHead, items: number, idempotency: NewJob['idempotency']): NewJob {
  return {
    id: `job-${randomUUID()}`,
    tenant: context.tenant,
    caller: context.caller,
    capability: head.payload.capability,
    params: head.params ?? {},
    labels: head.labels ?? {},
    plan: planOf(head.payload, head.options),
    items,
    idempotency,
  };
}
