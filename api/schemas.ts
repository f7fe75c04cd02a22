import { z } from 'zod';
import { PARK_KINDS } from '../model/attempts';
import { JOB_STATES, OUTCOMES } from '../model/states';
import { isStorableName } from '../store';

/** Requests and responses of the HTTP surface, all in one place; the OpenAPI document is made from them. */

export const MAX_ITEM_ID_BYTES = 256;
const NAME_BYTES = 256;

/** A text that is compared and indexed: see `store/text.ts`. */
const name = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= NAME_BYTES, `over ${NAME_BYTES} bytes`)
  .refine(isStorableName, 'has U+0000 or a lone surrogate');

export const labelsSchema = z
  .record(name, name)
  .refine((labels) => Object.keys(labels).length <= 20, 'over 20 labels')
  .meta({ description: 'Up to 20 texts by which jobs are found again' });

export const optionsSchema = z
  .strictObject({
    concurrency: z
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'Items in flight at once; at most what the capability allows' }),
    maxAttempts: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Attempts an item gets; at most what the capability allows' }),
  })
  .meta({ description: 'How the job is run' });

export const headSchema = z.object({
  capability: z
    .string('a capability such as name@1 is needed')
    .min(1)
    .max(200)
    .meta({ description: 'name@version; a bare name takes the newest version' }),
  params: z.unknown().optional(),
  labels: labelsSchema.optional(),
  options: optionsSchema.optional(),
});
export type SubmitHead = z.output<typeof headSchema>;

export const itemSchema = z.object({
  id: z.string().meta({ description: `1 to ${MAX_ITEM_ID_BYTES} bytes, unique in the job; compared byte by byte` }),
  input: z.unknown().meta({ description: 'Checked against the schema of the capability before the first attempt' }),
});

export const submitSchema = headSchema.extend({ items: z.array(itemSchema).min(1).max(300_000) });

const time = z.iso.datetime();
const count = z.int().min(0);
const outcomeCounts = { succeeded: count, failed: count, needs_review: count, skipped: count };

/** The account with which a job closes. */
const statementSchema = z.object({
  items: count,
  outcomes: z.object(outcomeCounts),
  attempts: count,
  deferrals: count.meta({ description: 'How often an item was put off without an attempt being counted' }),
  waits: count.meta({ description: 'Waits at vendors that were started' }),
  recoveries: count.meta({ description: 'Deliveries of units that died and were sent again' }),
  vendorCalls: z.object({
    made: count.meta({ description: 'How often a call that may cost something was sent' }),
    unanswered: count.meta({ description: 'Calls of which nobody knows what came' }),
  }),
  usage: z.record(z.string(), z.number()).meta({ description: 'Quantity used, by meter' }),
  phases: z
    .object({ queuedMs: count, runningMs: count, pausedMs: count, cancellingMs: count })
    .meta({ description: 'Where the time went from submit to end, ms; they add up to it' }),
});

export const jobSchema = z.object({
  id: z.string(),
  capability: z.string(),
  retryOf: z.string().nullable().meta({ description: 'The job of which it runs items again' }),
  state: z.enum(JOB_STATES),
  items: count,
  counts: z.object({ pending: count, running: count, waiting: count, deferred: count, ...outcomeCounts }),
  labels: z.record(z.string(), z.string()),
  createdAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  temporal: z.object({ workflowId: z.string(), url: z.string().nullable() }),
  cancel: z
    .object({
      at: time,
      by: z.string(),
      skipped: count.meta({ description: 'Items that it ended without running them to an end' }),
      running: count.meta({ description: 'Items that ran when it was asked for' }),
      stopped: count.meta({ description: 'Of those, the ones that stopped without an outcome of their own' }),
      vendorCancels: z
        .object({ sent: count, failed: count })
        .meta({ description: 'What vendors were asked to stop, and how many of those requests failed' }),
    })
    .optional(),
  statement: statementSchema.optional(),
});
export type JobJson = z.output<typeof jobSchema>;

export const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  causes: z.array(z.string()).optional(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

export const itemViewSchema = z.object({
  id: z.string(),
  index: count,
  state: z.enum([...OUTCOMES, 'pending', 'running', 'waiting', 'deferred']),
  attempts: count,
  result: z.unknown().optional(),
  error: errorSchema.optional(),
  reason: z.string().optional(),
  draft: z.unknown().optional(),
  remoteId: z.string().optional().meta({ description: 'What a vendor knows it by, where its answer is missing' }),
  finishedAt: time.nullable(),
  parked: z.object({ kind: z.enum(PARK_KINDS), due: time, deferrals: count, error: errorSchema.nullable() }).optional(),
  wait: z
    .object({ name: z.string(), remoteId: z.string().nullable(), since: time })
    .optional()
    .meta({ description: 'What it waits for at a vendor' }),
  progress: z.object({ done: z.number(), total: z.number().optional(), note: z.string().optional() }).optional(),
});
export type ItemJson = z.output<typeof itemViewSchema>;

const wholeNumber = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

export const pageQuery = z.object({
  after: z.string().optional().meta({ description: 'The `next` of the page before' }),
  limit: wholeNumber(1, 1_000).default(100),
});
export const jobQuery = z.object({
  wait: wholeNumber(0, 60).default(0).meta({ description: 'Seconds to wait for the end of the job' }),
});
export const jobsQuery = pageQuery.extend({
  state: z.enum(JOB_STATES).optional(),
  capability: z.string().min(1).optional(),
  label: z
    .string()
    .regex(/^[^:]+:.+$/s, 'write key:value')
    .optional(),
});
export const itemsQuery = pageQuery.extend({ outcome: z.enum(OUTCOMES).optional() });
export const resultsQuery = z.object({
  outcome: z.enum(OUTCOMES).optional(),
  lineage: z.enum(['all']).optional().meta({
    description: 'The newest outcome of each item over the job, those that it retries and those that retry it',
  }),
});

const logLevel = z.enum(['info', 'warn', 'error']);
const logSource = z.enum(['runner', 'payload']);
export const logQuery = pageQuery.extend({ level: logLevel.optional(), source: logSource.optional() });
export const eventsQuery = z.object({
  log: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .meta({ description: 'Whether lines of the log are events too, and not only changes of state' }),
});

const next = z.string().nullable();
export const jobsPageSchema = z.object({ jobs: z.array(jobSchema), next });
export const itemsPageSchema = z.object({ items: z.array(itemViewSchema), next });
export const logLineSchema = z.object({
  no: count,
  at: time,
  level: logLevel,
  source: logSource,
  message: z.string(),
  itemId: z.string().nullable(),
  state: z
    .enum(JOB_STATES)
    .nullable()
    .meta({ description: 'What the state of the job became with it; null where it did not change' }),
});
export type LogLineJson = z.output<typeof logLineSchema>;
export const logPageSchema = z.object({ lines: z.array(logLineSchema), next });

/** How far a job is, as its stream of events says it. */
export const progressSchema = jobSchema.pick({ state: true, items: true, counts: true });
export type ProgressJson = z.output<typeof progressSchema>;

export const whySchema = z.object({
  cause: z.string().meta({ description: 'Stable, machine-readable; docs/operations.md says of each what to do' }),
  sentence: z.string().meta({ description: 'What the job waits for now' }),
  facts: z.object({
    state: z.enum(JOB_STATES),
    stateSince: time,
    counts: z.object({ pending: count, running: count, waiting: count, deferred: count, ...outcomeCounts }),
    window: count.meta({ description: 'Most items in flight at once' }),
    units: z.array(z.object({ worker: z.string(), items: count, running: count, openedAt: time })),
    slowest: z
      .array(z.object({ item: z.string(), startedAt: time, worker: z.string() }))
      .meta({ description: 'Running items that have run for longest' }),
    parked: z.object({
      total: count,
      nextDue: time.nullable(),
      lookedAt: count.meta({ description: 'Of how many items, those that are due next, the reasons are' }),
      reasons: z.array(z.object({ kind: z.enum(PARK_KINDS), code: z.string(), message: z.string(), count, due: time })),
    }),
    workers: z.object({ alive: count, withCapability: count }),
    queue: z.string().nullable().meta({ description: 'What is wrong with the queue' }),
    missing: z.object({ count, items: z.array(z.string()) }).nullable(),
  }),
});
export type WhyJson = z.output<typeof whySchema>;

export const manifestSchema = z.object({
  capabilities: z.array(
    z.object({
      capability: z.string(),
      name: z.string(),
      version: count,
      description: z.string(),
      takes: z.enum(['items', 'batches']),
      input: z.unknown(),
      params: z.unknown(),
      result: z.unknown(),
      limits: z.record(z.string(), z.unknown()),
    }),
  ),
  ceilings: z.array(z.object({ name: z.string(), scope: z.string(), value: z.number(), setBy: z.string() })),
});

export const healthSchema = z.object({ status: z.enum(['ok', 'unavailable']), problems: z.array(z.string()) });
export const deepHealthSchema = healthSchema.extend({
  warnings: z.array(z.string()),
  workers: z.array(
    z.object({
      id: z.string(),
      pool: z.string(),
      capabilities: z.array(z.string()),
      ceilings: z.record(z.string(), z.number()),
      memoryMb: z.number(),
      loopDelayMs: count.meta({ description: 'How late its event loop was lately, ms; the 99th percentile' }),
      startedAt: time,
      beatAt: time,
    }),
  ),
  deadLetters: count
    .nullable()
    .meta({ description: 'Dead letters that nobody has dealt with; null where the store is away' }),
  stuckJobs: z
    .array(z.object({ id: z.string(), missing: count, items: z.array(z.string()) }))
    .meta({ description: 'Jobs that cannot be closed, with the number of items they lack and the first of their ids' }),
});

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    remedy: z.string(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .loose();
