/** Payloads of the fault tests with real processes: they pay a vendor whose ledger is looked at afterwards. */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definePayload, z, type CallInfo, type Reconciled } from 'itemwise/contract';

const folder = process.env['TEST_MARKS']!;
const ledger = process.env['TEST_LEDGER']!;

/** True the first time it is asked for a name, whichever process asks. */
function first(name: string): boolean {
  const file = join(folder, `mark-${name}`);
  if (existsSync(file)) return false;
  writeFileSync(file, '');
  return true;
}

const config = z.object({ baseUrl: z.url() });

const charge =
  (baseUrl: string) =>
  async ({ key, signal }: CallInfo) => {
    const headers = { 'idempotency-key': key };
    const response = await fetch(`${baseUrl}/charges`, { method: 'POST', headers, signal });
    if (!response.ok) throw new Error(`the vendor answered ${response.status}`);
    return (await response.json()) as { charged: string };
  };

const reconcile =
  (baseUrl: string) =>
  async ({ key, signal }: CallInfo): Promise<Reconciled<{ charged: string }>> => {
    const response = await fetch(`${baseUrl}/charges?key=${key}`, { signal });
    if (response.status === 404) return { state: 'absent' };
    return { state: 'done', result: (await response.json()) as { charged: string } };
  };

export default [
  definePayload({
    name: 'test.paid',
    version: 1,
    vocabulary: [],
    input: z.object({}),
    config,
    result: z.object({ charged: z.string() }),
    limits: { concurrency: 4 },
    run: async (item, ctx) => {
      appendFileSync(ledger, `${item.id}\n`);
      const { baseUrl } = ctx.config;
      const charged = await ctx.vendor('acme').call('charge', charge(baseUrl), { reconcile: reconcile(baseUrl) });
      ctx.meter('charges', 1, { key: 'charge' });
      return charged;
    },
  }),
  definePayload({
    name: 'test.pages',
    version: 1,
    vocabulary: [],
    input: z.object({ pages: z.number(), throwsAt: z.number() }),
    config,
    result: z.object({ pages: z.number() }),
    limits: { itemTimeout: '5m' },
    run: async (item, ctx) => {
      const { baseUrl } = ctx.config;
      for (let page = 0; page < item.input.pages; page++) {
        if (page === item.input.throwsAt && first('threw')) throw new Error(`page ${page} did not work`);
        await ctx
          .vendor('acme')
          .call(`page ${page}`, charge(baseUrl), { args: { page }, reconcile: reconcile(baseUrl) });
        ctx.progress(page + 1, item.input.pages);
      }
      return { pages: item.input.pages };
    },
  }),
  definePayload({
    name: 'test.flaky',
    version: 1,
    vocabulary: [],
    input: z.object({ ms: z.number(), fails: z.boolean() }),
    result: z.object({ ok: z.boolean() }),
    limits: { maxAttempts: 3, concurrency: 10 },
    run: async (item, ctx) => {
      appendFileSync(ledger, `${item.id}\n`);
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, item.input.ms);
        ctx.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(ctx.signal.reason as Error);
        });
      });
      if (item.input.fails && first(item.id)) throw new Error('a transient fault');
      return { ok: true };
    },
  }),
];
