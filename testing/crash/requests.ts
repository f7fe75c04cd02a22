import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Attempt, Sending } from './records';

/** Whose code is running. */
export interface Where {
  attempt: Attempt | undefined;
  /** The call that it is in; absent in the payload's own code. */
  readonly sending?: Sending;
  /** Asking a vendor is no request that changes something, whatever its method. */
  readonly asking?: boolean;
}

/** A request that changes something, as it is shown. */
export interface SentRequest {
  readonly method: string;
  /** Without its query. */
  readonly url: string;
}

/** By HTTP these do something each time that they are sent. */
const REPEATABLE_ONLY_WITH_CARE = new Set(['POST', 'PATCH']);

/** As undici and Node's own fetch announce theirs. */
interface UndiciRequest {
  readonly method: string;
  readonly origin: string | URL;
  readonly path: string;
  readonly headers: string | readonly string[];
}

/** Sees the HTTP requests that go out of the process, and knows whose they are. */
export class Requests {
  readonly here = new AsyncLocalStorage<Where>();

  /** @param harmless whether a request may be made as often as one likes. */
  constructor(private readonly harmless: (request: SentRequest) => boolean) {}

  start(): void {
    subscribe('undici:request:create', this.ofUndici);
    subscribe('http.client.request.start', this.ofNode);
  }

  stop(): void {
    unsubscribe('undici:request:create', this.ofUndici);
    unsubscribe('http.client.request.start', this.ofNode);
  }

  private readonly ofUndici = (message: unknown): void => {
    const { method, origin, path, headers } = (message as { request: UndiciRequest }).request;
    this.note(method, `${String(origin)}${path}`, keyIn(headers));
  };

  private readonly ofNode = (message: unknown): void => {
    const { request } = message as { request: ClientRequest };
    const host = String(request.getHeader('host') ?? request.host);
    const key = request.getHeader('idempotency-key');
    this.note(request.method, `${request.protocol}//${host}${request.path}`, key === undefined ? key : String(key));
  };

  private note(method: string, url: string, key: string | undefined): void {
    const where = this.here.getStore();
    if (!where || where.asking || !REPEATABLE_ONLY_WITH_CARE.has(method)) return;
    const request = { method, url: url.split('?', 1)[0]! };
    if (this.harmless(request)) return;
    const { attempt, sending } = where;
    if (!sending) return void attempt?.loose.push(`${request.method} ${request.url}`);
    sending.writes = true;
    if (key !== undefined) sending.keysSent.add(key);
  }
}

/** The header is in a flat list of names and values, or, in older releases, in a text. */
function keyIn(headers: string | readonly string[]): string | undefined {
  if (typeof headers === 'string') return /^idempotency-key: (.*)$/im.exec(headers)?.[1];
  const at = headers.findIndex((name, i) => i % 2 === 0 && String(name).toLowerCase() === 'idempotency-key');
  return at < 0 ? undefined : headers[at + 1];
}
