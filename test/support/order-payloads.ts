/** Payloads of the chaos suite: an item that takes a while and is paid for, and one that does nothing. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definePayload, z, type CallInfo, type Reconciled } from 'itemwise/contract';

const folder = process.env['TEST_MARKS']!;
const ledger = process.env['TEST_LEDGER']!;

/** Throws the first `times` times that it is asked to for a name, whichever process asks. */
function failFirst(times: number, name: string): void {
  for (let nth = 1; nth <= times; nth++) {
    const mark = join(folder, `failed-${name}-${nth}`);
    if (existsSync(mark)) continue;
    writeFileSync(mark, '');
    throw new Error(`a transient fault (${nth} of ${times})`);
  }
}

/** Rejects when the signal is aborted before. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

const order = z.object({ order: z.string(), ms: z.number(), fails: z.number().default(0) });

export default [
  definePayload({
    name: 'test.order',
    version: 1,
    vocabulary: [],
    input: order,
    config: z.object({ baseUrl: z.url() }),
    result: z.object({ charged: z.string() }),
    limits: { maxAttempts: 3, concurrency: 50 },
    run: async ({ id, input }, ctx) => {
      appendFileSync(ledger, `${id}\n`);
      await wait(input.ms, ctx.signal);
      failFirst(input.fails, input.order);
      const url = `${ctx.config.baseUrl}/charges`;
      const charge = async ({ key, signal }: CallInfo): Promise<{ charged: string }> => {
        const headers = { 'idempotency-key': key };
        const body = JSON.stringify({ order: input.order });
        const response = await fetch(url, { method: 'POST', headers, body, signal });
        if (!response.ok) throw new Error(`the vendor answered ${response.status}`);
        return (await response.json()) as { charged: string };
      };
      const reconcile = async ({ key, signal }: CallInfo): Promise<Reconciled<{ charged: string }>> => {
        const response = await fetch(`${url}?key=${key}`, { signal });
        if (response.status === 404) return { state: 'absent' };
        return { state: 'done', result: (await response.json()) as { charged: string } };
      };
      const charged = await ctx.vendor('acme').call('charge', charge, { reconcile });
      ctx.meter('charges', 1, { key: 'charge' });
      return charged;
    },
  }),
  definePayload({
    name: 'test.tick',
    version: 1,
    vocabulary: [],
    input: z.object({ order: z.string(), fails: z.number() }),
    result: z.object({ ok: z.boolean() }),
    limits: { maxAttempts: 3 },
    run: ({ input }) => {
      failFirst(input.fails, input.order);
      return { ok: true };
    },
  }),
];
