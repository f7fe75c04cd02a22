import { Defer, Reject, retryAfter } from '../../contract';
import { codedError } from '../shared/errors';
import type { Answer } from './exchange';

/** How much of the vendor's own words goes into a message. */
const MAX_WORDS = 200;

/**
 * What the answer to a submission means when it is no 2xx; undefined when it is.
 * - 429 and 503: `Defer`, as long as the vendor asks for. It did nothing.
 * - any other 4xx: `Reject`, code `http_422`. It did nothing, and asking again gives the same.
 * - the rest: an error with the code `http_500`. Nobody knows whether it was done, so the runner looks it up.
 */
export function submitRefusal(answer: Answer): Error | undefined {
  const { status } = answer;
  if (status < 400 || status >= 500 || status === 429) return askRefusal(answer);
  return new Reject(messageOf(answer), { code: `http_${status}` });
}

/**
 * The same for a question. There a 4xx is the fault of who asks, or of the vendor, and says nothing about the
 * submissions that were asked about: it is never a `Reject`.
 */
export function askRefusal(answer: Answer): Error | undefined {
  const { status } = answer;
  if (status >= 200 && status < 300) return undefined;
  if (status === 429 || status === 503) return new Defer(messageOf(answer), retryAfter(answer.retryAfter));
  return codedError(`http_${status}`, messageOf(answer));
}

function messageOf({ status, text }: Answer): string {
  const words = text.replace(/\s+/g, ' ').trim();
  return `the vendor answered ${status}${words === '' ? '' : `: ${words.slice(0, MAX_WORDS)}`}`;
}
