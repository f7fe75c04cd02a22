import { definePayload, toMs, z, type Duration } from '../../contract';
import { withDeadline } from './deadline';
import { decode } from './decode';
import { download } from './download';
import { parsePage } from './parse-page';
import { isWebUrl } from './web-url';

const MIB = 1_048_576;
const MAX_TIMEOUT_MS = 60_000;

function isTimeout(value: number | string): boolean {
  try {
    const ms = toMs(value as Duration);
    return ms > 0 && ms <= MAX_TIMEOUT_MS;
  } catch {
    return false;
  }
}

/**
 * Gets a web page, and what it says of itself: its title and canonical link. It asks for whatever the worker can reach.
 * Fails with `http_404` (any 4xx), `not_html`, `too_large`, `too_many_redirects` or `bad_redirect`; is retried after
 * `http_500` (any 5xx), `timeout` or a network error; comes back when a 429 or a 503 says so.
 */
export default definePayload({
  name: 'page.fetch',
  version: 1,
  description: 'Gets a web page and reads its title and canonical link.',
  vocabulary: ['html', 'webpage', 'hyperlink', 'crawler', 'htmlparser2'],
  input: z.object({
    url: z.string().max(8_192).refine(isWebUrl, 'not an absolute http or https URL without credentials'),
  }),
  params: z.strictObject({
    /** Largest page, in bytes after decompression. */
    maxBytes: z
      .int()
      .positive()
      .max(16 * MIB)
      .default(2 * MIB),
    /** For all of it, redirects and body included. */
    timeout: z.union([z.number(), z.string()]).refine(isTimeout, 'not a duration up to 60s').default('20s'),
  }),
  config: z.object({ userAgent: z.string().min(1).default('itemwise/0.1') }),
  result: z.object({
    url: z.string(),
    /** After redirects. */
    finalUrl: z.string(),
    status: z.int(),
    contentType: z.string(),
    /** Size of the page after decompression. */
    bytes: z.int(),
    title: z.string().nullable(),
    canonical: z.string().nullable(),
  }),
  // Above the longest timeout of its own, which gives the clearer error.
  limits: { itemTimeout: MAX_TIMEOUT_MS + 5_000 },
  async run(item, ctx) {
    const { url } = item.input;
    const { maxBytes, timeout } = ctx.params;
    const { userAgent } = ctx.config;
    const page = await withDeadline(ctx.signal, toMs(timeout as Duration), (signal) =>
      download(new URL(url), { userAgent, maxBytes, signal }),
    );
    return {
      url,
      finalUrl: page.url.href,
      status: page.status,
      contentType: page.contentType,
      bytes: page.body.byteLength,
      ...parsePage(decode(page.body, page.contentType), page.url),
    };
  },
});
