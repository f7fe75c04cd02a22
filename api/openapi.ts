import { z } from 'zod';
import { PROBLEMS, type ProblemCode } from './problems';
import * as schemas from './schemas';

interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answer: { readonly status: number; readonly type?: string; readonly schema?: z.ZodType };
  readonly problems: readonly ProblemCode[];
}

const EVERYWHERE: readonly ProblemCode[] = ['store_unavailable', 'internal'];
const job: readonly ProblemCode[] = ['job_not_found'];
const ok = (schema: z.ZodType): Operation['answer'] => ({ status: 200, schema });

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
    path: '/v1/jobs/{id}/log',
    summary: 'What the runner and the payload noted of the job',
    query: schemas.pageQuery,
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

function describe({ path, summary, query, body, answer, problems }: Operation): object {
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
  return {
    summary,
    parameters: [...inPath, ...inQuery],
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
