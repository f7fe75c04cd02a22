import { z } from '../contract';
import { registry } from './registry';

test('serves the five payloads', () => {
  const capabilities = registry.list().map((payload) => payload.capability);
  expect(capabilities).toEqual(['feed.submit@1', 'item.echo@1', 'item.sleep@1', 'page.fetch@1', 'vehicle.normalize@1']);
});

test.each(registry.list())('$capability: its words are lower case, its schemas can be published', (payload) => {
  for (const word of payload.vocabulary) expect(word).toBe(word.toLowerCase());
  for (const schema of [payload.input, payload.params, payload.config, payload.result]) {
    expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({ type: 'object' });
  }
});
