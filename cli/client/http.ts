import { types } from 'node:util';
import type { Dispatcher } from 'undici';
import { CliError, Interrupted, Unreachable, UsageError } from '../failure';
import { EXIT } from '../exit-codes';
import { lazy } from '../lazy';
import { toProblem } from './problem';

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface Request {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Record<string, string>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
  /** How long the answer may pause, ms; default ANSWER_MS. */
  readonly silenceMs?: number;
  /** The content type that the answer must have. */
  readonly answer?: string;
}

const CONNECT_MS = 5_000;
/** An upload is sealed in one transaction, which may take its time. */
const ANSWER_MS = 300_000;
const MAX_PROBLEM_CHARS = 64_000;

/** The HTTP of the API, without its meaning: an answer of success, or an error that says what to do. */
export class Http {
  private readonly agent: Dispatcher;
  readonly url: string;

  /** @throws UsageError when `url` is none. */
  constructor(url: string) {
    this.url = checkUrl(url);
    const { Agent } = lazy.undici();
    this.agent = new Agent({ connect: { timeout: CONNECT_MS }, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
  }

  /** @throws ApiProblem, Unreachable, Interrupted, or what the body's iterable throws. */
  async send(request: Request): Promise<Dispatcher.ResponseData> {
    try {
      const answer = await this.dispatch(request);
      if (answer.statusCode < 400) return answer;
      throw toProblem(answer.statusCode, (await answer.body.text()).slice(0, MAX_PROBLEM_CHARS));
    } catch (error) {
      throw this.explain(error, request.signal);
    }
  }

  /** @throws as `send`, and CliError when the answer is not JSON. */
  async json<T>(request: Request): Promise<T> {
    const answer = await this.send(request);
    try {
      return (await answer.body.json()) as T;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw this.explain(error, request.signal);
      throw this.stranger(error);
    }
  }

  /** The bytes of an answer, as fast as they are taken. @throws as `send`, also on the way. */
  async *bytes(request: Request): AsyncGenerator<Uint8Array> {
    const { body, headers } = await this.send(request);
    if (request.answer !== undefined && !String(headers['content-type']).startsWith(request.answer)) {
      await body.dump().catch(() => undefined);
      throw this.stranger();
    }
    try {
      yield* body as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.explain(error, request.signal);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private dispatch(request: Request): Promise<Dispatcher.ResponseData> {
    const { method = 'GET', path, query = {}, headers, body, signal, silenceMs } = request;
    const { origin, pathname } = new URL(this.url);
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    return this.agent.request({
      origin,
      // Not through a URL, which would take an item with the id `..` for a step up.
      path: `${pathname.replace(/\/$/, '')}${path}${search.size > 0 ? `?${search.toString()}` : ''}`,
      method,
      ...(headers && { headers }),
      // Undici's types know fewer bodies than undici.
      ...(body && { body: body as unknown as Buffer }),
      ...(signal && { signal }),
      ...(silenceMs !== undefined && { bodyTimeout: silenceMs }),
    });
  }

  private stranger(cause?: unknown): CliError {
    return new CliError(`what answers at ${this.url} is not Itemwise`, EXIT.unexpected, { cause });
  }

  private explain(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return new Interrupted();
    if (error instanceof CliError || !isNetworkError(error)) return error;
    const refused = codeOf(error) === 'ECONNREFUSED';
    const why = refused ? 'nothing listens there; `itemwise dev` starts one' : error.message;
    return new Unreachable(`no answer from the API at ${this.url}: ${why}`, { cause: error });
  }
}

/** Without a slash at its end. */
function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`${JSON.stringify(text)} is not the URL of an API, such as http://127.0.0.1:8080`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Two addresses of one name give an AggregateError whose code is that of its first. */
function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : '';
}

/** Of the socket or of undici; anything else is a mistake of ours. */
function isNetworkError(error: unknown): error is Error {
  return types.isNativeError(error) && /^(E[A-Z]|UND_ERR_)/.test(codeOf(error));
}
