import { echo } from './fixtures/echo';
import { JSON_TYPE, NDJSON_TYPE, call, ended, get, json } from './fixtures/http';
import { openTestApi, type TestApi } from './fixtures/test-api';
import { itemsPageSchema, jobSchema } from './schemas';

/** By id; what is written as JSON text is what is sent. */
const INPUTS: Readonly<Record<string, string>> = {
  null: 'null',
  number: '-1.5e-7',
  'largest safe number': '9007199254740991',
  text: '"just a text"',
  array: '[1,[],{"a":null}]',
  true: 'true',
  'big unicode': `"${'👩‍👩‍👧‍👦é€\u{10FFFF}'.repeat(5_000)}"`,
  'marks and separators': '"\ufeff\u2028\u2029\u200b"',
  'U+0000': '"a\\u0000b"',
  'lone surrogates': '["\\ud800x","\\udc00"]',
  'a key called __proto__': '{"__proto__":{"a":1},"b":2}',
  'an empty key': '{"":{"":[]}}',
};

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi({ payloads: [echo], worker: true });
});
afterAll(() => api.stop());

const lines = Object.entries(INPUTS).map(([id, text]) => `{"id":${JSON.stringify(id)},"input":${text}}`);

it.each([
  ['JSON', JSON_TYPE, '/v1/jobs', `{"capability":"test.echo@1","items":[${lines.join(',')}]}`],
  ['NDJSON', NDJSON_TYPE, '/v1/jobs?capability=test.echo', lines.join('\n')],
])('gives a payload every input as it was sent in %s, and its answer back', async (_, headers, path, body) => {
  const sent = await call(api.url, path, { method: 'POST', headers, body });
  const job = await ended(api.url, json(sent, jobSchema, 202).id);
  expect(job).toMatchObject({ state: 'succeeded', counts: { succeeded: lines.length } });
  const { items } = await get(api.url, `/v1/jobs/${job.id}/items`, itemsPageSchema);
  // As texts, since toEqual takes a __proto__ for what it usually is.
  const answers = items.map((item) => [item.id, JSON.stringify(item.result)]);
  const wanted = Object.entries(INPUTS).map(([id, text]) => [id, `{"was":${JSON.stringify(JSON.parse(text))}}`]);
  expect(answers).toEqual(wanted);
});
