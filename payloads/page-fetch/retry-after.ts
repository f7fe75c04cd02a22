/** Where the server does not say, or says nonsense. */
export const DEFAULT_RETRY_AFTER_MS = 30_000;

/** The three date forms of RFC 9110 begin with a weekday; `Date.parse` alone takes `-5` for a date. */
const HTTP_DATE = /^(mon|tue|wed|thu|fri|sat|sun)/i;

/** Milliseconds that a `Retry-After` header asks for: seconds or an HTTP date. Illegal or past: the default of 30 s. */
export function retryAfterMs(header: string | null, now: number): number {
  const text = header?.trim() ?? '';
  let ms = NaN;
  if (/^\d+$/.test(text)) ms = Number(text) * 1_000;
  // The asctime form bears no zone, and means GMT.
  else if (HTTP_DATE.test(text)) ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) - now;
  return Number.isFinite(ms) && ms >= 0 ? ms : DEFAULT_RETRY_AFTER_MS;
}
