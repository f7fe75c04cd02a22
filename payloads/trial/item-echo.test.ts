import { runPayload } from '../../testing';
import { itemEcho } from './item-echo';

test('answers ok, whatever the object', async () => {
  const items = [{ any: [1, { thing: null }] }, 'text'].map((input, i) => ({ id: `i${i}`, input }));
  expect(await runPayload(itemEcho, items)).toMatchObject([
    { state: 'succeeded', result: { ok: true } },
    { state: 'failed', error: { code: 'input_invalid' } },
  ]);
});
