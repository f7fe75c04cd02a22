import { definePayload, z } from '../contract';
import { THROWN } from '../test/support/thrown';
import { call, ended, get, submit } from './fixtures/http';
import { openTestApi, type TestApi } from './fixtures/test-api';
import { itemViewSchema, itemsPageSchema } from './schemas';

const thrower = definePayload({
  name: 'test.thrower',
  version: 1,
  vocabulary: [],
  input: z.unknown(),
  result: z.unknown(),
  limits: { maxAttempts: 1 },
  run: (item) => {
    throw THROWN[item.id]!();
  },
});

let api: TestApi;
let id: string;
beforeAll(async () => {
  api = await openTestApi({ payloads: [thrower], worker: true });
  const items = Object.keys(THROWN).map((item) => ({ id: item, input: 1 }));
  id = (await submit(api.url, items, { capability: 'test.thrower' })).id;
  expect(await ended(api.url, id)).toMatchObject({ state: 'failed', counts: { failed: items.length } });
});
afterAll(() => api.stop());

it.each(Object.keys(THROWN))('shows an item that failed with %s, in a size to be read', async (itemId) => {
  const item = await get(api.url, `/v1/jobs/${id}/items/${encodeURIComponent(itemId)}`, itemViewSchema);
  expect(item).toMatchObject({ state: 'failed', attempts: 1, error: { code: expect.any(String) as string } });
  expect(item.error!.message).not.toBe('');
  expect(JSON.stringify(item).length).toBeLessThan(50_000);
});

it('keeps the code where the message is cut', async () => {
  const item = await get(api.url, `/v1/jobs/${id}/items/${encodeURIComponent('a message of 5 MB')}`, itemViewSchema);
  expect(item.error!.code).toBe('kept');
  expect(item.error!.message).toMatch(/^mmm/);
});

it('shows them in pages and results too', async () => {
  const { items } = await get(api.url, `/v1/jobs/${id}/items?outcome=failed`, itemsPageSchema);
  expect(items).toHaveLength(Object.keys(THROWN).length);
  const { text } = await call(api.url, `/v1/jobs/${id}/results`);
  expect(
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => itemViewSchema.parse(JSON.parse(line))),
  ).toEqual(items);
});
