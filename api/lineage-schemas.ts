import { z } from 'zod';
import { OPEN_CALL_CHOICES } from '../store';
import { errorSchema, jobSchema, labelsSchema, optionsSchema, pageQuery } from './schemas';

/** Requests and responses about what failed: retries and dead letters. */

const openCalls = z.enum(OPEN_CALL_CHOICES).default('leave_out').meta({
  description:
    'Items with a paid call whose answer is not known: leave them out; take them and look the call up again; or, where a person knows that nothing was charged, forget the call and send it again',
});

export const retrySchema = z
  .strictObject({
    items: z.array(z.string()).min(1).max(300_000).optional().meta({ description: 'Ids of items without success' }),
    outcome: z.enum(['failed', 'needs_review', 'skipped']).optional().meta({ description: 'Default: failed' }),
    deadLettered: z.boolean().optional().meta({ description: 'Only items that the runner gave up on' }),
    openCalls,
    labels: labelsSchema.optional().meta({ description: 'Beside those of the job that is retried' }),
    options: optionsSchema.optional(),
  })
  .refine(
    ({ items, outcome, deadLettered }) => [items, outcome, deadLettered].filter((one) => one !== undefined).length <= 1,
    'give one of items, outcome and deadLettered',
  );
export type RetryRequest = z.output<typeof retrySchema>;

export const replaySchema = z.strictObject({ openCalls });

const count = z.int().min(0);
export const retriedSchema = jobSchema.extend({
  leftOut: z
    .object({
      openCalls: count.meta({ description: 'Items with a paid call whose answer is not known' }),
      retriedSince: count.meta({ description: 'Items that a later job has taken' }),
    })
    .nullable()
    .meta({ description: 'What was not taken; null where the idempotency key already had the job' }),
});

export type RetriedJson = z.output<typeof retriedSchema>;

export const deadLettersQuery = pageQuery.extend({
  job: z.string().min(1).optional(),
  capability: z.string().min(1).optional(),
  code: z.string().min(1).optional(),
  replayed: z.enum(['true', 'false']).optional().meta({ description: 'Default: both' }),
});

const time = z.iso.datetime();
export const deadLetterSchema = z.object({
  id: z.string(),
  job: z.string(),
  capability: z.string(),
  item: z.string(),
  at: time,
  attempts: count,
  error: errorSchema,
  replayedBy: z.string().nullable().meta({ description: 'The job that runs it again' }),
});
export type DeadLetterJson = z.output<typeof deadLetterSchema>;
export const deadLettersPageSchema = z.object({ deadLetters: z.array(deadLetterSchema), next: z.string().nullable() });

export const deadLetterDetailSchema = deadLetterSchema.extend({
  input: z.unknown(),
  params: z.unknown(),
  labels: z.record(z.string(), z.string()),
  openCalls: z
    .array(
      z.object({ call: z.string(), vendor: z.string().nullable(), key: z.string(), remoteId: z.string().nullable() }),
    )
    .meta({ description: 'Paid calls whose answer is not known: ask the vendor with the key' }),
});
export type DeadLetterDetailJson = z.output<typeof deadLetterDetailSchema>;
