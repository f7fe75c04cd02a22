import type { Context } from '../../contract';
import { itemEcho } from './item-echo';

test('answers ok, whatever the object', async () => {
  const item = { id: 'a', input: itemEcho.input.parse({ any: [1, { thing: null }] }) };
  expect(await itemEcho.run?.(item, {} as Context)).toEqual({ ok: true });
  expect(itemEcho.input.safeParse('text').success).toBe(false);
});
