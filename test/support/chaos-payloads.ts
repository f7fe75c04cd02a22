/** Payloads of the tests with real processes; loaded as a team's own module would be. */
import { appendFileSync } from 'node:fs';
import { definePayload, z } from 'itemwise/contract';

const ledger = process.env['TEST_LEDGER'];

const note = (id: string): void => {
  if (ledger) appendFileSync(ledger, `${id}\n`);
};

/** What an item may do to its process. */
const DEEDS: Readonly<Record<string, () => unknown>> = {
  // In steps, and in few objects, so that it is the memory that ends it and not the watchdog while it is collected.
  allocates: async () => {
    for (const kept: unknown[] = []; ; await new Promise(setImmediate)) {
      kept.push(new Array(500_000).fill(0));
    }
  },
  exits: () => process.exit(3),
  rejects: () => void Promise.reject(new Error('nobody waits for this')),
  blocks: () => {
    for (;;);
  },
  'kills itself': () => process.kill(process.pid, 'SIGKILL'),
};

export default [
  definePayload({
    name: 'test.poison',
    version: 1,
    vocabulary: [],
    input: z.object({ ms: z.number(), deed: z.string().optional() }),
    result: z.object({ ok: z.boolean() }),
    limits: { maxAttempts: 3 },
    run: async (item) => {
      note(item.id);
      if (item.input.deed) await DEEDS[item.input.deed]!();
      await new Promise((resolve) => setTimeout(resolve, item.input.ms));
      return { ok: true };
    },
  }),
  definePayload({
    name: 'test.work',
    version: 1,
    vocabulary: [],
    input: z.object({ ms: z.number() }),
    result: z.object({ ok: z.boolean() }),
    limits: { maxAttempts: 2 },
    run: async (item, ctx) => {
      note(item.id);
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
