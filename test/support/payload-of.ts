import { definePayload, z, type Batch, type BatchContext, type Context, type Item, type Payload } from '../../contract';

/** A run payload around one function, with no schemas to speak of. */
export function payloadOf<I = unknown>(run: (item: Item<I>, ctx: Context) => unknown, more: object = {}): Payload {
  const schemas = { input: z.any(), result: z.any(), params: z.any(), config: z.any() };
  const spec = { name: 'test.run', version: 1, vocabulary: [], ...schemas, run, ...more };
  return definePayload(spec as unknown as Parameters<typeof definePayload>[0]);
}

/** A batches payload around one function, with no schemas to speak of. */
export function batchesOf<I = unknown>(batches: (ctx: BatchContext<I>) => unknown, more: object = {}): Payload {
  return payloadOf(() => undefined, { name: 'test.batches', run: undefined, batches, ...more });
}

/** A payload that takes batches of `size` and notes who is in them. */
export function noting(size: number, each: (batch: Batch, ctx: BatchContext) => unknown, more: object = {}) {
  const batches: string[] = [];
  const payload = batchesOf(async (ctx) => {
    for await (const batch of ctx.batches({ size })) {
      batches.push(batch.items.map((item) => item.id).join(' '));
      await each(batch, ctx);
    }
  }, more);
  return { payload, batches };
}

export function settleAll(batch: Batch): void {
  for (const item of batch.items) batch.settle(item, 'done');
}
