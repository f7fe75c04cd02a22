import { createRegistry, definePayload, z } from '../contract';
import { readPayloadConfigs } from './payload-config';

const payload = definePayload({
  name: 'vendor.ask',
  version: 1,
  vocabulary: [],
  input: z.object({}),
  result: z.object({}),
  config: z.object({ baseUrl: z.url(), apiKey: z.string().min(8), retries: z.coerce.number().default(2) }),
  run: () => ({}),
});
const registry = createRegistry([payload]);

describe('the settings of a payload', () => {
  it('are read from variables named after it', () => {
    const configOf = readPayloadConfigs(registry, {
      VENDOR_ASK_BASE_URL: 'https://vendor.test',
      VENDOR_ASK_API_KEY: 'long enough',
    });
    expect(configOf(payload)).toEqual({ baseUrl: 'https://vendor.test', apiKey: 'long enough', retries: 2 });
  });

  it('are refused with every mistake, and no value, since it may be a secret', () => {
    try {
      readPayloadConfigs(registry, { VENDOR_ASK_API_KEY: 'canary' });
      throw new Error('it was not refused');
    } catch (error) {
      const message = String(error);
      expect(message).toContain('VENDOR_ASK_BASE_URL (for vendor.ask@1)');
      expect(message).toContain('VENDOR_ASK_API_KEY');
      expect(message).not.toContain('canary');
    }
  });
});
