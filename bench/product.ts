import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { start, type Measured } from './processes';

const CLI = join(__dirname, '..', 'dist', 'cli', 'main.js');

/** A job that was run; times in ms. */
export interface Run {
  readonly id: string;
  readonly uploadMs: number;
  readonly totalMs: number;
}

/** The product as its users run it: an API and a worker, each a process, on a folder of their own. */
export class Product {
  private constructor(
    readonly url: string,
    readonly api: Measured,
    readonly worker: Measured,
    private readonly folder: string,
  ) {}

  static async open(temporalAddress: string, more: Record<string, string> = {}): Promise<Product> {
    const folder = mkdtempSync(join(tmpdir(), 'itemwise-bench-'));
    const env = {
      TEMPORAL_ADDRESS: temporalAddress,
      ITEMWISE_DATA: folder,
      ITEMWISE_PORT: '0',
      ITEMWISE_LOG_LEVEL: 'warn',
      ...more,
    };
    const api = await start([CLI, 'api'], env);
    const worker = await start([CLI, 'worker'], env);
    const { listening } = JSON.parse(api.firstLine) as { listening: string };
    return new Product(listening, api, worker, folder);
  }

  async close(): Promise<void> {
    await this.worker.stop();
    await this.api.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Uploads `n` items and waits for the last outcome. Times in ms. */
  async run(n: number, capability = 'item.echo@1', input: object = {}): Promise<Run> {
    const startedAt = performance.now();
    const answer = await request(`${this.url}/v1/jobs?capability=${capability}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: Readable.from(lines(n, input)),
    });
    const job = (await answer.body.json()) as { id?: string };
    if (answer.statusCode !== 202) throw new Error(`submit answered ${answer.statusCode}: ${JSON.stringify(job)}`);
    const uploadMs = performance.now() - startedAt;
    for (;;) {
      const read = await request(`${this.url}/v1/jobs/${job.id}?wait=60`);
      const { state, finishedAt, counts } = (await read.body.json()) as {
        state: string;
        finishedAt: string | null;
        counts: { succeeded: number };
      };
      if (finishedAt === null) continue;
      if (state !== 'succeeded' || counts.succeeded !== n)
        throw new Error(`the job ended as ${state}: ${JSON.stringify(counts)}`);
      return { id: job.id!, uploadMs, totalMs: performance.now() - startedAt };
    }
  }
}

/** NDJSON in chunks of a thousand lines. */
function* lines(n: number, input: object): Generator<string> {
  for (let from = 0; from < n; from += 1_000) {
    let chunk = '';
    for (let i = from; i < Math.min(n, from + 1_000); i++)
      chunk += `${JSON.stringify({ id: `item-${i}`, input: { n: i, ...input } })}\n`;
    yield chunk;
  }
}
