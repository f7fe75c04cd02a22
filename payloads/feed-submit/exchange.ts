import { request } from 'undici';
import { Declined } from '../../contract';
import { networkError } from '../shared/errors';
import type { Account } from './settings';

/** Longest silence of the vendor, before its answer and within it. The whole is bound by the caller's signal. */
const SILENCE_MS = 20_000;
/** Largest answer taken: a check of a hundred submissions with their reasons is far below. */
const MAX_ANSWER_BYTES = 4 * 1_048_576;

export interface Question {
  readonly method: 'GET' | 'POST';
  /** Below the vendor's base URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** As JSON. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/**
 * One request to the vendor. Redirects are not followed: a POST that costs something is made where it was meant to be.
 * @throws the signal's reason when it is aborted; an error with a code when the vendor cannot be reached, breaks off,
 *   is silent for too long or does not stop talking.
 */
export async function exchange(account: Account, question: Question): Promise<Answer> {
  const { method, path, body, signal } = question;
  const url = new URL(account.baseUrl.replace(/\/+$/, '') + path);
  try {
    const response = await request(url, {
      method,
      signal,
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
      headers: headersOf(account, question),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const comeBack = response.headers['retry-after'];
    return {
      status: response.statusCode,
      retryAfter: Array.isArray(comeBack) ? comeBack[0] : comeBack,
      text: await readText(response.body),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof TooLarge ? error : unsent(networkError(error, url));
  }
}

/** Where there was nobody to talk to, nothing was sent: no charge is in doubt. */
function unsent(error: Error & { code: string }): Error {
  return ['ECONNREFUSED', 'ENOTFOUND'].includes(error.code)
    ? Object.assign(new Declined(error.message, { cause: error }), { code: error.code })
    : error;
}

function headersOf({ apiKey }: Account, { body, headers }: Question): Record<string, string> {
  return {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...headers,
  };
}

class TooLarge extends Error {
  readonly code = 'answer_too_large';
}

/** What is over the limit is never held in memory; leaving the loop lets go of the connection. */
async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new TooLarge(`the vendor's answer is over ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}
