import { definePayload, defineWait, z, type Duration, type Payload } from '../../contract';
import { entry, submission } from './entry';
import { accountOf, settings } from './settings';
import { FeedVendor } from './vendor';
import { verdict } from './verdict';

export interface FeedSubmitOptions {
  /** Time between the checks of a submission. Default 2 s, growing to 30 s. */
  readonly every?: Duration | { readonly initial: Duration; readonly max: Duration };
  /** Longest that the vendor may take for its verdict. Default a day. */
  readonly maxWait?: Duration;
  /** Most submissions that the vendor may have to decide on at once. Default 5,000. */
  readonly maxOpen?: number;
}

/** The wait for the vendor's verdict: each start costs something, and its lost answer is looked up by its key. */
function verdictWait({ every = { initial: '2s', max: '30s' }, maxWait = '24h', maxOpen = 5_000 }: FeedSubmitOptions) {
  const vendorOf = (ctx: { readonly config: unknown }): FeedVendor => new FeedVendor(accountOf(ctx.config));
  return defineWait({
    args: submission,
    answer: verdict,
    start: (args, { key, signal }, ctx) => vendorOf(ctx).submit(args, key, signal),
    // Not declared `idempotent`, though the vendor is: an answer that stays lost is then for a person to look into, and
    // not just a failure.
    reconcile: (_args, { key, signal }, ctx) => vendorOf(ctx).find(key, signal),
    check: (ids, ctx) => vendorOf(ctx).statesOf(ids, ctx),
    cancel: (ids, ctx) => vendorOf(ctx).cancel(ids, ctx.signal),
    every,
    maxWait,
    maxOpen,
  });
}

/**
 * `feed.submit@1`: submits an entry of a product feed to a vendor, waits for its verdict, and takes the submission back
 * when the job is cancelled. What the vendor rejects needs review. Fails with `http_422` (any 4xx) when the vendor does
 * not take the entry, and with `not_configured` where no vendor is known; comes back when a 429 or a 503 says so.
 */
export function feedSubmit(options: FeedSubmitOptions = {}): Payload {
  return definePayload({
    name: 'feed.submit',
    version: 1,
    description: 'Submits a product feed entry to a vendor and waits for its verdict.',
    vocabulary: ['sku', 'currency', 'submission', 'submissions'],
    input: entry,
    params: z.strictObject({ feed: z.string().trim().min(1).max(100).default('default') }),
    config: settings,
    result: z.object({
      submissionId: z.string(),
      verdict: z.literal('accepted'),
      /** What the vendor did not like about an entry that it took. */
      warnings: z.array(z.string()).optional(),
    }),
    // Room for a lookup and a submission that are both as slow as they may be.
    limits: { itemTimeout: '60s' },
    waits: { verdict: verdictWait(options) },
    run: (item, ctx) => ctx.wait('verdict', { ...item.input, feed: ctx.params.feed }),
    resume: {
      verdict: (_item, ctx, { submissionId, verdict: decided, reasons }) => {
        if (decided === 'rejected') return ctx.review('rejected by the vendor', { submissionId, reasons });
        ctx.meter('submissions', 1, { key: 'submission' });
        return { submissionId, verdict: decided, ...(reasons.length > 0 && { warnings: reasons }) };
      },
    },
  });
}

export default feedSubmit();
