import type {
  DeadLetterDetailJson,
  DeadLetterJson,
  ItemJson,
  JobJson,
  LogLineJson,
  RetriedJson,
  WhyJson,
} from '../../api';
import type { JobState, Outcome } from '../../model/states';
import type { OpenCallChoice } from '../../store';
import { UsageError } from '../failure';
import type { NewItem } from '../readers';
import { readEvents, type EventsFrom, type JobEvent } from './events';
import { Http, type Query } from './http';
import { toBody, type Sent } from './upload';

export type { DeadLetterDetailJson, DeadLetterJson, ItemJson, JobJson, LogLineJson, RetriedJson, WhyJson };

export interface SubmitHead {
  readonly capability: string;
  readonly params?: unknown;
  readonly labels?: Readonly<Record<string, string>>;
  readonly options?: { readonly concurrency?: number; readonly maxAttempts?: number };
  readonly idempotencyKey?: string | undefined;
}

export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly capability?: string | undefined;
  /** `key:value` */
  readonly label?: string | undefined;
}

export interface DeadLetterFilter {
  readonly job?: string | undefined;
  readonly capability?: string | undefined;
  readonly code?: string | undefined;
  readonly replayed?: 'true' | 'false' | undefined;
}

/** What is run again; one of `items`, `outcome` and `deadLettered`, or none for what failed. */
export interface RetryRequest {
  readonly items?: readonly string[];
  readonly outcome?: Exclude<Outcome, 'succeeded'>;
  readonly deadLettered?: boolean;
  readonly openCalls?: OpenCallChoice;
}

export type Verb = 'cancel' | 'pause' | 'resume';

export const MAX_PAGE = 1_000;

/** The API in the words of the command line. Everything throws ApiProblem, Unreachable or Interrupted. */
export class ApiClient {
  private readonly http: Http;

  /** @param signal ends every call. */
  constructor(
    url: string,
    private readonly signal: AbortSignal,
  ) {
    this.http = new Http(url);
  }

  get url(): string {
    return this.http.url;
  }

  /** Sends the items as they come. What `items` throws ends the upload, of which the API keeps nothing. */
  submit(
    head: SubmitHead,
    items: AsyncIterable<NewItem>,
    onSent: (sent: Sent) => void = () => undefined,
  ): Promise<JobJson> {
    const { capability, params, labels, options, idempotencyKey } = head;
    const json = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value));
    return this.http.json({
      method: 'POST',
      path: '/v1/jobs',
      query: { capability, params: json(params), labels: json(labels), options: json(options) },
      headers: {
        'content-type': 'application/x-ndjson',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      body: toBody(items, onSent),
      signal: this.signal,
    });
  }

  /** @param wait seconds that the answer may wait for the job's end. */
  job(id: string, wait?: number): Promise<JobJson> {
    return this.get(jobPath(id), { wait });
  }

  /** The newest first, at most `limit`. */
  async jobs(filter: JobFilter, limit: number): Promise<{ jobs: JobJson[]; next: string | null }> {
    const jobs: JobJson[] = [];
    let next: string | null = null;
    do {
      const query: Query = {
        ...filter,
        after: next ?? undefined,
        limit: Math.min(limit - jobs.length, MAX_PAGE),
      };
      const page: { jobs: JobJson[]; next: string | null } = await this.get('/v1/jobs', query);
      jobs.push(...page.jobs);
      next = page.next;
    } while (next !== null && jobs.length < limit);
    return { jobs, next };
  }

  async items(id: string, outcome: Outcome, limit: number): Promise<ItemJson[]> {
    const page: { items: ItemJson[] } = await this.get(`${jobPath(id)}/items`, { outcome, limit });
    return page.items;
  }

  item(id: string, itemId: string): Promise<ItemJson> {
    return this.get(`${jobPath(id)}/items/${encodeURIComponent(itemId)}`);
  }

  /** Every outcome there is, NDJSON. */
  results(id: string, { outcome, lineage }: { outcome?: Outcome; lineage?: 'all' } = {}): AsyncGenerator<Uint8Array> {
    return this.http.bytes({ path: `${jobPath(id)}/results`, query: { outcome, lineage }, signal: this.signal });
  }

  /** The job's log from its beginning. */
  async *log(id: string): AsyncGenerator<LogLineJson> {
    let after: string | null = null;
    do {
      const query: Query = { after: after ?? undefined, limit: MAX_PAGE };
      const page: { lines: LogLineJson[]; next: string | null } = await this.get(`${jobPath(id)}/log`, query);
      yield* page.lines;
      after = page.next;
    } while (after !== null);
  }

  /** What happens with the job from now on, over one connection. */
  events(id: string, from: Omit<EventsFrom, 'signal'> = {}): AsyncGenerator<JobEvent> {
    return readEvents(this.http, `${jobPath(id)}/events`, { ...from, signal: this.signal });
  }

  why(id: string): Promise<WhyJson> {
    return this.get(`${jobPath(id)}/why`);
  }

  retry(id: string, request: RetryRequest): Promise<RetriedJson> {
    return this.send(`${jobPath(id)}/retry`, request);
  }

  /** The newest first, at most `limit`. */
  async deadLetters(
    filter: DeadLetterFilter,
    limit: number,
  ): Promise<{ deadLetters: DeadLetterJson[]; next: string | null }> {
    return this.get('/v1/dead-letters', { ...filter, limit });
  }

  deadLetter(id: string): Promise<DeadLetterDetailJson> {
    return this.get(letterPath(id));
  }

  replay(id: string, openCalls: OpenCallChoice | undefined): Promise<RetriedJson> {
    return this.send(`${letterPath(id)}/replay`, { openCalls });
  }

  act(id: string, verb: Verb): Promise<JobJson> {
    return this.http.json({ method: 'POST', path: `${jobPath(id)}/${verb}`, signal: this.signal });
  }

  async remove(id: string): Promise<void> {
    const { body } = await this.http.send({ method: 'DELETE', path: jobPath(id), signal: this.signal });
    await body.dump();
  }

  close(): Promise<void> {
    return this.http.close();
  }

  private send<T>(path: string, value: unknown): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    return this.http.json({ method: 'POST', path, headers, body: once(JSON.stringify(value)), signal: this.signal });
  }

  private get<T>(path: string, query: Query = {}): Promise<T> {
    return this.http.json({ path, query, signal: this.signal });
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}

function letterPath(id: string): string {
  if (id === '') throw new UsageError('the id of the dead letter is empty');
  return `/v1/dead-letters/${encodeURIComponent(id)}`;
}

function jobPath(id: string): string {
  // Such as of a variable of the shell that is not set; it would mean all jobs.
  if (id === '') throw new UsageError('the id of the job is empty');
  return `/v1/jobs/${encodeURIComponent(id)}`;
}
