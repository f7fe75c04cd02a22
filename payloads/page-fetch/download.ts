import { fetch, type Response } from 'undici';
import { Reject } from '../../contract';
import { networkError } from '../shared/errors';
import { statusError } from '../shared/status-error';
import { resolveWebUrl } from './web-url';

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HTML = /^\s*(text\/html|application\/xhtml\+xml)\s*(;|$)/i;

export interface Request {
  userAgent: string;
  /** Largest body taken, after decompression. */
  maxBytes: number;
  signal: AbortSignal;
}

export interface Download {
  /** After redirects. */
  url: URL;
  status: number;
  contentType: string;
  body: Buffer;
}

/** Lets go of a body that nobody will read, and so of its connection. */
async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => undefined);
}

/** The first answer that is no redirect. By hand, so that each hop is checked to be a web URL. */
async function follow(start: URL, { userAgent, signal }: Request): Promise<{ url: URL; response: Response }> {
  const headers = { 'user-agent': userAgent, accept: 'text/html, application/xhtml+xml;q=0.9' };
  let url = start;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await fetch(url, { headers, signal, redirect: 'manual' }).catch((error: unknown) => {
      throw networkError(error, url);
    });
    if (!REDIRECTS.has(response.status)) return { url, response };
    await discard(response);
    const next = resolveWebUrl(response.headers.get('location') ?? '', url);
    if (!next || !response.headers.has('location')) {
      throw new Reject(`${url.host} redirects to nowhere that can be fetched`, { code: 'bad_redirect' });
    }
    url = next;
  }
  throw new Reject(`more than ${MAX_REDIRECTS} redirects`, { code: 'too_many_redirects' });
}

/** Reads a body up to the limit; what is over it is never held in memory. */
async function readBody({ url, response }: { url: URL; response: Response }, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw networkError(error, url);
  }
  if (size > maxBytes) throw new Reject(`the page is over ${maxBytes} bytes`, { code: 'too_large' });
  return Buffer.concat(chunks, size);
}

/**
 * Gets an HTML document.
 * @throws Reject `http_4xx`, `not_html`, `too_large`, `too_many_redirects`, `bad_redirect`; Defer when told to come
 *   back later; an error with code `http_5xx` or that of the network.
 */
export async function download(start: URL, request: Request): Promise<Download> {
  const answer = await follow(start, request);
  const { url, response } = answer;
  const contentType = response.headers.get('content-type') ?? '';
  const refusal =
    statusError(response.status, response.headers.get('retry-after')) ??
    (HTML.test(contentType) ? undefined : new Reject(`not HTML: ${contentType.slice(0, 100)}`, { code: 'not_html' }));
  if (refusal) {
    await discard(response);
    throw refusal;
  }
  return { url, status: response.status, contentType, body: await readBody(answer, request.maxBytes) };
}
