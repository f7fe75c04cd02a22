import { until } from '../../test/support/rig';
import { call, ended, get, problem, submit } from '../fixtures/http';
import { openTestApi, type TestApi } from '../fixtures/test-api';
import { itemViewSchema, itemsPageSchema } from '../schemas';

const IDS = [
  'plain',
  'a/b',
  '/',
  'a b',
  '100%',
  '%2F',
  '%zz',
  '.',
  '..',
  '?x=1#y',
  'ä€😀',
  'e\u0301',
  '\u00e9',
  'A',
  'a',
  '\\',
  '"',
  '\n',
  '__proto__',
  'x'.repeat(256),
];

let api: TestApi;
let id: string;
beforeAll(async () => {
  api = await openTestApi({ worker: true });
  id = (
    await submit(
      api.url,
      IDS.map((item) => ({ id: item, input: {} })),
    )
  ).id;
  await ended(api.url, id);
});
afterAll(() => api.stop());

const path = (itemId: string): string => `/v1/jobs/${id}/items/${encodeURIComponent(itemId).replace(/\./g, '%2E')}`;

it.each(IDS.map((itemId, index) => [JSON.stringify(itemId).slice(0, 20), itemId, index] as const))(
  'finds the item %s by its id',
  async (_, itemId, index) => {
    expect(await get(api.url, path(itemId), itemViewSchema)).toMatchObject({ id: itemId, index, state: 'succeeded' });
  },
);

it.each(['b', 'PLAIN', 'plain ', '\0', 'x'.repeat(257)])('does not find the item %j', async (itemId) => {
  expect(problem(await call(api.url, path(itemId)), 'item_not_found').detail).toContain(JSON.stringify(itemId));
});

it('does not find an item of another job', async () => {
  const other = await submit(api.url, [{ id: 'only here', input: {} }]);
  await ended(api.url, other.id);
  problem(await call(api.url, path('only here')), 'item_not_found');
});

it('shows an item that waits for another attempt, with the reason', async () => {
  const { id: job } = await submit(api.url, [{ id: 'a', input: { acts: ['defer'] } }]);
  const parked = async (): Promise<boolean> => {
    const { items } = await get(api.url, `/v1/jobs/${job}/items`, itemsPageSchema);
    return items[0]!.parked !== undefined;
  };
  await until(api.store, parked, 'the item is parked');
  const item = await get(api.url, `/v1/jobs/${job}/items/a`, itemViewSchema);
  expect(item).toMatchObject({ finishedAt: null, attempts: 0 });
  await call(api.url, `/v1/jobs/${job}/cancel`, { method: 'POST' });
  await ended(api.url, job);
});
