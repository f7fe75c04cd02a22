import { Reject, z } from '../../contract';

/**
 * From `FEED_SUBMIT_BASE_URL` and `FEED_SUBMIT_API_KEY`. Without an address a worker still starts: most deployments
 * serve this payload and never use it. An item then fails before anything is sent.
 */
export const settings = z.object({
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  apiKey: z.string().trim().min(1).optional(),
});

/** Where the vendor is, and who asks. */
export interface Account {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
}

/** @throws Reject `not_configured` */
export function accountOf(config: unknown): Account {
  const { baseUrl, apiKey } = config as z.output<typeof settings>;
  if (baseUrl === undefined) {
    throw new Reject('this worker knows no vendor: set FEED_SUBMIT_BASE_URL', { code: 'not_configured' });
  }
  return { baseUrl, apiKey };
}
