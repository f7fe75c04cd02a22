import { z } from 'zod';
import * as lineage from './lineage-schemas';
import { PROBLEMS, type ProblemCode } from './problems';
import * as schemas from './schemas';

interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  /** Headers that matter to it, and what they say. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  readonly answer: { readonly status: number; readonly type?: string; readonly schema?: z.ZodType };
  readonly problems: readonly ProblemCode[];
}

const EVERYWHERE: readonly ProblemCode[] = ['store_unavailable', 'internal'];
const job: readonly ProblemCode[] = ['job_not_found'];
/** What may be wrong with the small body of a request. */
const BODY: readonly ProblemCode[] = [
  'invalid_json',
  'truncated_body',
  'invalid_request',
  'body_too_large',
  'unsupported_media_type',
  'idempotency_conflict',
];
const ok = (schema: z.ZodType): Operation['answer'] => ({ status: 200, schema });

const EVENTS = [
  'The events of a job (SSE), to its end: `job` once, as it is now; `state` for each change of state and, with `log`,',
  '`log` for each other line of the log, with its number as the id; `progress` with the counts, at most once a second;',
  '`reset` where the stream starts over; `deleted`; and always, at last, `end` with the job as it ended',
].join(' ');

/** Every route, in the order of the documentation; a test holds the routers to it. */
export const OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/jobs',
    summary:
      'Submit a job. JSON, or NDJSON with one item a line and the rest in the query (params, labels and options as JSON).',
    body: schemas.submitSchema,
    answer: { status: 202, schema: schemas.jobSchema },
    problems: [
      'invalid_json',
      'invalid_line',
      'truncated_body',
      'too_deep',
      'invalid_request',
      'body_too_large',
      'item_too_large',
      'unsupported_media_type',
      'no_items',
      'too_many_items',
      'invalid_item',
      'invalid_item_id',
      'duplicate_item_id',
      'unknown_capability',
      'invalid_params',
      'idempotency_conflict',
    ],
  },
  {
    method: 'get',
    path: '/v1/jobs',
    summary: 'Jobs, newest first',
    query: schemas.jobsQuery,
    answer: ok(schemas.jobsPageSchema),
    problems: ['invalid_request', 'invalid_cursor'],
  },
  {
    method: 'get',
    path: '/v1/jobs/{id}',
    summary: 'A job; with `wait`, when it has ended',
    query: schemas.jobQuery,
    answer: ok(schemas.jobSchema),
    problems: [...job, 'invalid_request'],
  },
  {
    method: 'delete',
    path: '/v1/jobs/{id}',
    summary: 'Delete a job that has ended',
    answer: { status: 204 },
    problems: [...job, 'job_not_terminal'],
  },
  {
    method: 'post',
    path: '/v1/jobs/{id}/cancel',
    summary: 'Cancel a job; any number of times',
    answer: ok(schemas.jobSchema),
    problems: job,
  },
  {
    method: 'post',
    path: '/v1/jobs/{id}/pause',
    summary: 'Send nothing new; what is in flight finishes',
    answer: ok(schemas.jobSchema),
    problems: [...job, 'not_possible_now'],
  },
  {
    method: 'post',
    path: '/v1/jobs/{id}/resume',
    summary: 'Go on with a paused job',
    answer: ok(schemas.jobSchema),
    problems: [...job, 'not_possible_now'],
  },
  {
    method: 'post',
    path: '/v1/jobs/{id}/retry',
    summary: 'Run items of a job that has ended again, as a new job that pays for nothing twice',
    headers: { 'Idempotency-Key': 'The same key and body give the same job' },
    body: lineage.retrySchema,
    answer: { status: 202, schema: lineage.retriedSchema },
    problems: [...job, 'job_not_terminal', 'not_retryable', 'unknown_capability', ...BODY],
  },
  {
    method: 'get',
    path: '/v1/dead-letters',
    summary: 'Items that the runner gave up on, the newest first',
    query: lineage.deadLettersQuery,
    answer: ok(lineage.deadLettersPageSchema),
    problems: [...job, 'invalid_request', 'invalid_cursor'],
  },
  {
    method: 'get',
    path: '/v1/dead-letters/{id}',
    summary: 'One of them, with all that a replay needs',
    answer: ok(lineage.deadLetterDetailSchema),
    problems: ['dead_letter_not_found'],
  },
  {
    method: 'post',
    path: '/v1/dead-letters/{id}/replay',
    summary: 'Retry its item',
    headers: { 'Idempotency-Key': 'The same key and body give the same job' },
    body: lineage.replaySchema,
    answer: { status: 202, schema: lineage.retriedSchema },
    problems: ['dead_letter_not_found', 'job_not_terminal', 'not_retryable', ...BODY],
  },
  {
    method: 'get',
    path: '/v1/jobs/{id}/why',
    summary: 'What a job waits for now: a sentence and its facts',
    answer: ok(schemas.whySchema),
    problems: job,
  },
  {
    method: 'get',
    path: '/v1/jobs/{id}/items',
    summary: 'Items in the order of the upload',
    query: schemas.itemsQuery,
    answer: ok(schemas.itemsPageSchema),
    problems: [...job, 'invalid_request', 'invalid_cursor'],
  },
  {
    method: 'get',
    path: '/v1/jobs/{id}/items/{itemId}',
    summary: 'One item',
    answer: ok(schemas.itemViewSchema),
    problems: [...job, 'item_not_found'],
  },
  {
    method: 'get',
    path: '/v1/jobs/{id}/results',
    summary: 'Items with an outcome, one a line; also while the job runs',
    query: schemas.resultsQuery,
    answer: { status: 200, type: 'application/x-ndjson', schema: schemas.itemViewSchema },
    problems: [...job, 'invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/jobs/{id}/events',
    summary: EVENTS,
    query: schemas.eventsQuery,
    headers: { 'Last-Event-ID': 'The id of the last event that was received: the stream goes on behind it' },
    answer: { status: 200, type: 'text/event-stream', schema: z.string() },
    problems: [...job, 'invalid_request', 'too_many_streams'],
  },
  {
    method: 'get',
    path: '/v1/jobs/{id}/log',
    summary: 'What the runner and the payload noted of the job',
    query: schemas.logQuery,
    answer: ok(schemas.logPageSchema),
    problems: [...job, 'invalid_request', 'invalid_cursor'],
  },
  {
    method: 'get',
    path: '/v1/manifest',
    summary: 'Capabilities and ceilings',
    answer: ok(schemas.manifestSchema),
    problems: [],
  },
  { method: 'get', path: '/health/live', summary: 'The process runs', answer: ok(schemas.healthSchema), problems: [] },
  {
    method: 'get',
    path: '/health/ready',
    summary: 'Store and queue can be reached; 503 when not',
    answer: ok(schemas.healthSchema),
    problems: [],
  },
  {
    method: 'get',
    path: '/health/deep',
    summary: 'What an operator looks at first',
    answer: ok(schemas.deepHealthSchema),
    problems: [],
  },
  {
    method: 'get',
    path: '/metrics',
    summary: 'Gauges, counters and latencies for Prometheus; docs/metrics.md says what each means',
    answer: { status: 200, type: 'text/plain', schema: z.string() },
    problems: [],
  },
  { method: 'get', path: '/openapi.json', summary: 'This document', answer: ok(z.unknown()), problems: [] },
];

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): unknown =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' });

/** The OpenAPI 3.1 document of the HTTP surface. */
export function openApiDocument(): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) (paths[operation.path] ??= {})[operation.method] = describe(operation);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Itemwise',
      version: '1',
      description: 'Durable jobs over many items. Errors are RFC 9457 problem details with a stable `code`.',
    },
    paths,
    components: { schemas: { Problem: jsonSchema(schemas.problemSchema, 'output') } },
  };
}

function describe({ path, summary, query, headers = {}, body, answer, problems }: Operation): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: jsonSchema(schema as z.ZodType, 'input'),
  }));
  const inHeader = Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
  return {
    summary,
    parameters: [...inPath, ...inQuery, ...inHeader],
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: jsonSchema(body, 'input') },
          'application/x-ndjson': { schema: jsonSchema(schemas.itemSchema, 'input') },
        },
      },
    }),
    responses: { [answer.status]: success(answer), ...failures([...problems, ...EVERYWHERE]) },
  };
}

function success({ type = 'application/json', schema }: Operation['answer']): object {
  return schema
    ? { description: 'As asked', content: { [type]: { schema: jsonSchema(schema, 'output') } } }
    : { description: 'Done' };
}

/** Problems of one status share a response, which names their codes. */
function failures(codes: readonly ProblemCode[]): Record<string, object> {
  const byStatus: Record<string, ProblemCode[]> = {};
  for (const code of codes) (byStatus[PROBLEMS[code].status] ??= []).push(code);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('. '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}
