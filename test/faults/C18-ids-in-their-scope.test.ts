import { JSON_TYPE, NDJSON_TYPE, bodyOf, call, ended, get, post, problem, submit } from '../../api/fixtures/http';
import { NOTHING, leftovers, openTestApi, type TestApi } from '../../api/fixtures/test-api';
import { itemViewSchema, itemsPageSchema } from '../../api/schemas';
import { definePayload, z } from '../../contract';

/** Ids that people, languages and databases take for the same. */
const ALIKE = [
  ...['a', 'A', 'ａ'],
  // One letter, composed and not; a ligature; the Turkish ones that change their length with their case.
  ...['\u00e9', 'e\u0301', 'ﬁ', 'fi', 'ı', 'i', 'İ', 'ß', 'ss'],
  ...['1', '01', '1.0', '1 ', ' 1', '１', '\u200b1', '+1', '1e0'],
  ...['null', 'undefined', 'true', '__proto__', 'constructor'],
  ...['a/b', 'a%2Fb', 'a?b', 'a#b', '..', '.', 'a\nb', "a'b", 'a"b', 'a;b'],
];

/** Says which id it ran for, and under which key it would pay. */
const keyed = definePayload({
  ...{ name: 'test.keyed', version: 1, vocabulary: [], input: z.unknown(), result: z.unknown() },
  run: async (item, ctx) => ({ id: item.id, was: item.input, key: await ctx.once('key', (key) => key) }),
});

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi({ payloads: [keyed], worker: true });
});
afterAll(() => api.stop());

/** Runs a job over items of these ids; what each came to. */
async function resultsOf(ids: readonly string[]): Promise<{ job: string; results: { id: string; key: string }[] }> {
  const items = ids.map((id, input) => ({ id, input }));
  const { id: job } = await submit(api.url, items, { capability: 'test.keyed' });
  expect(await ended(api.url, job)).toMatchObject({ state: 'succeeded', counts: { succeeded: ids.length } });
  const page = await get(api.url, `/v1/jobs/${job}/items?limit=1000`, itemsPageSchema);
  return { job, results: page.items.map((item) => item.result as { id: string; key: string }) };
}

describe('C18: an id that is not unique in its scope', () => {
  it.each([
    [
      'JSON',
      JSON_TYPE,
      '/v1/jobs',
      (ids: string[]) =>
        bodyOf(
          ids.map((id) => ({ id, input: 1 })),
          KEYED,
        ),
    ],
    [
      'NDJSON',
      NDJSON_TYPE,
      '/v1/jobs?capability=test.keyed',
      (ids: string[]) => ids.map((id) => `${JSON.stringify({ id, input: 1 })}\n`).join(''),
    ],
  ])(
    'C18: of %s, items 7 and 93 with the same id are refused with both positions, and leave nothing',
    async (...how) => {
      const [, headers, path, body] = how;
      const before = await leftovers(api);
      const ids = Array.from({ length: 100 }, (_, i) => `i${i + 1}`);
      ids[92] = ids[6]!;
      const answer = await call(api.url, path, { method: 'POST', headers, body: body(ids) });
      const { status, detail, positions } = problem(answer, 'duplicate_item_id') as Record<string, unknown>;
      expect({ status, detail, positions }).toEqual({
        status: 422,
        detail: 'the id "i7" stands at items 7 and 93',
        positions: [7, 93],
      });
      expect(await leftovers(api)).toEqual(before);
    },
  );

  it('C18: an id is a text: the number 1 is refused, and so is not the same as "1"', async () => {
    const body = '{"capability":"test.keyed","items":[{"id":"1","input":1},{"id":1,"input":1}]}';
    expect(problem(await post(api.url, body), 'invalid_item_id').detail).toBe('item 2: the id is not a text');
    expect(await leftovers(api)).toEqual(NOTHING);
  });

  it('C18: ids are compared byte by byte: what only looks alike is another item, with a key and a result of its own', async () => {
    const { job, results } = await resultsOf(ALIKE);
    expect(results.map(({ id }) => id)).toEqual(ALIKE);
    expect(new Set(results.map(({ key }) => key)).size).toBe(ALIKE.length);
    for (const [at, id] of ALIKE.entries()) {
      // A client library that resolves dots in a path never sends these two; they are in every list.
      if (id === '.' || id === '..') continue;
      const item = await get(api.url, `/v1/jobs/${job}/items/${encodeURIComponent(id)}`, itemViewSchema);
      expect(item).toMatchObject({ id, index: at, result: { id, was: at } });
    }
  });

  it('C18: two jobs may share ids: neither sees the results or the paid calls of the other', async () => {
    const [one, two] = [await resultsOf(['a', 'b']), await resultsOf(['b', 'a'])];
    const keys = [...one.results, ...two.results].map(({ key }) => key);
    expect(new Set(keys).size).toBe(4);
    expect(await get(api.url, `/v1/jobs/${two.job}/items/a`, itemViewSchema)).toMatchObject({ index: 1 });
  });
});

const KEYED = { capability: 'test.keyed' };
