/** Payloads of the tests with real processes; loaded as a team's own module would be. */
import { appendFileSync } from 'node:fs';
import { definePayload, z } from 'itemwise/contract';

const ledger = process.env['TEST_LEDGER'];

export default [
  definePayload({
    name: 'test.work',
    version: 1,
    vocabulary: [],
    input: z.object({ ms: z.number() }),
    result: z.object({ ok: z.boolean() }),
    limits: { maxAttempts: 2 },
    run: async (item, ctx) => {
      if (ledger) appendFileSync(ledger, `${item.id}\n`);
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, item.input.ms);
        ctx.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(ctx.signal.reason as Error);
        });
      });
      return { ok: true };
    },
  }),
];
