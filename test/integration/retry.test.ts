import { call, get, json, JSON_TYPE } from '../../api/fixtures/http';
import { deadLettersPageSchema, retriedSchema } from '../../api/lineage-schemas';
import { definePayload, z, type Checked } from '../../contract';
import { createRig, itemsOf, type Rig } from '../support/rig';

jest.setTimeout(90_000);

/** What each key was charged; the calls are reconciled by nobody. */
const charges = new Map<string, number>();
const charge = (key: string): string => {
  charges.set(key, (charges.get(key) ?? 0) + 1);
  return key;
};
let mended = false;
const breaks = (): void => {
  if (!mended) throw Object.assign(new Error('it broke after it paid'), { code: 'broken' });
};

const batches = definePayload({
  name: 'test.bulk',
  version: 1,
  vocabulary: [],
  input: z.unknown(),
  result: z.string(),
  limits: { maxAttempts: 1, unit: { max: 20 } },
  batches: async (ctx) => {
    for await (const batch of ctx.batches({ size: 5 })) {
      const paid = await ctx.vendor('acme').call('bulk', ({ key }) => Promise.resolve(charge(key)));
      breaks();
      for (const item of batch.items) batch.settle(item, paid);
    }
  },
});

const started: string[] = [];
const waits = definePayload({
  name: 'test.verdict',
  version: 1,
  vocabulary: [],
  input: z.unknown(),
  result: z.string(),
  limits: { maxAttempts: 1 },
  waits: {
    verdict: {
      args: z.object({}),
      answer: z.string(),
      every: { initial: '1s', max: '1s' },
      maxWait: '1m',
      start: () => {
        started.push(`r${started.length}`);
        return Promise.resolve(started[started.length - 1]!);
      },
      check: (ids: readonly string[]) => {
        const answer: Checked<string> = mended ? { state: 'ready', answer: 'yes' } : { state: 'expired' };
        return Promise.resolve(Object.fromEntries(ids.map((id) => [id, answer])));
      },
    },
  },
  run: (_item, ctx) => ctx.wait('verdict', {}),
  resume: { verdict: (_item, _ctx, answer) => String(answer) },
});

let rig: Rig;
beforeAll(async () => {
  rig = await createRig({ queue: 'activity', payloads: [batches, waits] });
});
afterAll(() => rig.stop());
beforeEach(() => {
  mended = false;
  charges.clear();
});

const retry = async (id: string, body: object = {}) =>
  json(
    await call(rig.url, `/v1/jobs/${id}/retry`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }),
    retriedSchema,
    202,
  );

it('forms batches again that were paid for, and pays for none of them twice', async () => {
  const first = await rig.ended((await rig.submit('test.bulk@1', itemsOf(20))).id);
  expect(first).toMatchObject({ state: 'failed', statement: { vendorCalls: { made: charges.size } } });
  const paid = charges.size;
  mended = true;
  const second = await rig.ended((await retry(first.id)).id);
  expect(second).toMatchObject({ state: 'succeeded', items: 20, statement: { vendorCalls: { made: 0 } } });
  expect([...charges.values()]).toEqual(Array.from({ length: paid }, () => 1));
});

it('starts a wait anew that had expired at its vendor: its dead letter is replayed', async () => {
  const first = await rig.ended((await rig.submit('test.verdict@1', itemsOf(1))).id);
  expect(first).toMatchObject({ state: 'failed', statement: { waits: 1 } });
  const { deadLetters } = await get(rig.url, `/v1/dead-letters?job=${first.id}`, deadLettersPageSchema);
  expect(deadLetters).toMatchObject([{ error: { code: 'wait_expired' } }]);
  mended = true;
  const replayed = await call(rig.url, `/v1/dead-letters/${deadLetters[0]!.id}/replay`, { method: 'POST' });
  const second = await rig.ended(json(replayed, retriedSchema, 202).id);
  expect(second).toMatchObject({ state: 'succeeded', statement: { waits: 1 } });
  expect(started).toEqual(['r0', 'r1']);
});
