import { Defer, Reject, retryAfter } from '../../contract';
import { codedError } from './errors';

/**
 * What an answer's status means for the item; undefined for 2xx.
 * - 429, and 503 with a Retry-After: `Defer` until then;
 * - any other 5xx: an error to be retried, code `http_503`;
 * - the rest (4xx, a 3xx that is no redirect): `Reject`, code `http_404`: asking again gives the same.
 */
export function statusError(status: number, comeBack: string | null): Error | undefined {
  if (status >= 200 && status < 300) return undefined;
  const message = `the server answered ${status}`;
  if (status === 429 || (status === 503 && comeBack !== null)) return new Defer(message, retryAfter(comeBack));
  const code = `http_${status}`;
  return status >= 500 ? codedError(code, message) : new Reject(message, { code });
}
