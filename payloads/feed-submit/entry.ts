import { z } from '../../contract';

/** One entry of a product feed, as a caller gives it and as the vendor takes it. */
export const entry = z.object({
  sku: z.string().trim().min(1).max(100),
  title: z.string().trim().min(1).max(500),
  price: z.number().nonnegative(),
  currency: z.string().regex(/^[A-Z]{3}$/, 'not a currency code of three capital letters'),
  url: z
    .url({ protocol: /^https?$/ })
    .max(8_192)
    .optional(),
});

/** What is submitted: an entry, and the feed that it belongs to. */
export const submission = entry.extend({ feed: z.string() });
export type Submission = z.output<typeof submission>;
