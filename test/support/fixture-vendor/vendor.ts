import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ledger, type Submission, type Verdict } from './ledger';

/**
 * How the vendor treats a paid request. `drop`: does it, and breaks the connection off instead of answering. `refuse`: does
 * nothing and asks for patience. `fail`: does nothing, and breaks. `hold`: does it, and answers when released.
 */
export type Mood = 'ok' | 'drop' | 'refuse' | 'fail' | 'hold';

export interface VendorOptions {
  /** A submission is decided when it was asked about this often. Default 2. */
  readonly decidesAfter?: number;
  readonly decide?: (submission: Submission) => Verdict;
  /** The mood for the nth paid request, from 0. Default always `ok`. */
  readonly mood?: (nth: number, body: unknown) => Mood;
  readonly retryAfter?: string;
  /** Takes a paid call under a known key for the same one, as most vendors do. Default: charges it again. */
  readonly honoursKeys?: boolean;
}

/**
 * A vendor on a free port of 127.0.0.1 with a ledger of its own:
 *
 *   POST /charges             a paid call under its Idempotency-Key; a second one under the same key is charged again
 *   GET  /charges?key=        what became of it
 *   POST /submissions         the start of something slow; the same key gives the same submission
 *   GET  /submissions?key=    what became of it
 *   POST /submissions/status  {ids} -> the state of each that it knows
 *   POST /submissions/cancel  {ids}
 *   GET  /ledger
 */
export class FixtureVendor {
  readonly ledger = new Ledger();
  private server!: Server;
  private paid = 0;
  private readonly held: (() => void)[] = [];
  /** Told of each paid request when it was booked, before it is answered. */
  onPaid: (nth: number) => void = () => undefined;
  url = '';

  constructor(private readonly options: VendorOptions = {}) {}

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        answer(response, 500, { error: String(error) });
      });
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.release();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Answers what was held. */
  release(): void {
    for (const go of this.held.splice(0)) go();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const body = await readJson(request);
    const key = String(request.headers['idempotency-key'] ?? searchParams.get('key') ?? '');
    switch (`${request.method} ${pathname}`) {
      case 'POST /charges':
        return this.pay(response, body, () => ({ charged: this.charge(key, body) }));
      case 'GET /charges': {
        const charged = this.ledger.isCharged(key);
        return answer(response, charged ? 200 : 404, charged ? { charged: key } : {});
      }
      case 'POST /submissions':
        return this.pay(response, body, () => ({ id: this.ledger.submit(key, body).id }));
      case 'GET /submissions': {
        const submission = this.ledger.byKey(key);
        return answer(response, submission ? 200 : 404, submission ? { id: submission.id } : {});
      }
      case 'POST /submissions/status':
        return answer(response, 200, { states: this.statesOf(idsOf(body)) });
      case 'POST /submissions/cancel':
        return answer(response, 200, this.cancel(idsOf(body)));
      case 'GET /ledger':
        return answer(response, 200, this.ledger);
      default:
        return answer(response, 404, { error: 'no such route' });
    }
  }

  private charge(key: string, body: unknown): string {
    if (this.options.honoursKeys && this.ledger.isCharged(key)) this.ledger.repeated++;
    else this.ledger.charge(key, body);
    return key;
  }

  private async pay(response: ServerResponse, body: unknown, book: () => object): Promise<void> {
    const nth = this.paid++;
    const mood = this.options.mood?.(nth, body) ?? 'ok';
    if (mood === 'refuse') {
      response.setHeader('retry-after', this.options.retryAfter ?? '1');
      return answer(response, 429, { error: 'slow down' });
    }
    if (mood === 'fail') return answer(response, 500, { error: 'broken' });
    const booked = book();
    this.onPaid(nth);
    if (mood === 'drop') return void response.socket?.destroy();
    if (mood === 'hold') await new Promise<void>((resolve) => this.held.push(resolve));
    answer(response, 201, booked);
  }

  private statesOf(ids: readonly string[]): object {
    this.ledger.statusRequests++;
    this.ledger.idsAsked += ids.length;
    const { decidesAfter = 2, decide = (): Verdict => ({ verdict: 'accepted' }) } = this.options;
    const states: Record<string, object> = {};
    for (const id of ids) {
      const submission = this.ledger.submissions.get(id);
      if (!submission) continue;
      if (++submission.asked >= decidesAfter && !submission.cancelled) submission.verdict ??= decide(submission);
      if (submission.expired) states[id] = { state: 'expired' };
      else states[id] = submission.verdict ? { state: 'decided', ...submission.verdict } : { state: 'pending' };
    }
    return states;
  }

  private cancel(ids: readonly string[]): object {
    for (const id of ids) {
      this.ledger.cancelRequests.push(id);
      const submission = this.ledger.submissions.get(id);
      if (submission && !submission.verdict) submission.cancelled = true;
    }
    return { cancelled: ids.length };
  }
}

function idsOf(body: unknown): string[] {
  const { ids } = (body ?? {}) as { ids?: unknown };
  return Array.isArray(ids) ? ids.map(String) : [];
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? undefined : JSON.parse(text);
}

function answer(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return;
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}
