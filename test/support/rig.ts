import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Activities } from '../../activities';
import { startApi, type ItemJson, type JobJson } from '../../api';
import { loadConfig, databaseFile, type Config } from '../../config';
import { createRegistry, type Payload } from '../../contract';
import type { JobQueue, QueueKind } from '../../queue';
import { createLogger, openTemporalQueue, type Runtime } from '../../runtime';
import { openStore, type Store } from '../../store';
import { startInProcessWorker } from '../../worker/in-process';
import { startTemporalWorker } from '../../worker/temporal-worker';

export interface RigOptions {
  readonly queue: QueueKind;
  readonly payloads: readonly Payload[];
  readonly env?: Record<string, string>;
  /** Puts something between the queue and the activities: a fault. */
  readonly wrap?: (activities: Activities) => Activities;
  /** No worker at the start. */
  readonly idle?: boolean;
}

/** A whole service in this process, on a store and a task queue of its own, spoken to over HTTP. */
export interface Rig {
  readonly url: string;
  readonly store: Store;
  readonly queue: JobQueue;
  readonly config: Config;
  submit(capability: string, items: readonly { id: string; input: unknown }[], more?: object): Promise<JobJson>;
  job(id: string): Promise<JobJson>;
  /** The job when it has ended. */
  ended(id: string): Promise<JobJson>;
  items(id: string): Promise<ItemJson[]>;
  post(path: string): Promise<JobJson>;
  /** Starts a worker of a rig that began idle. */
  work(): Promise<void>;
  stop(): Promise<void>;
}

/** Longest that a test waits for the end of a job, ms. */
const PATIENCE_MS = 60_000;

function makeRuntime(config: Config, store: Store, payloads: readonly Payload[], name: string): Runtime {
  return {
    config,
    store,
    registry: createRegistry(payloads),
    log: createLogger(name, process.env['TEST_LOG_LEVEL'] ?? 'silent'),
    incarnation: `${name}-${randomUUID()}`,
  };
}

export async function createRig(options: RigOptions): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'itemwise-rig-'));
  const config = loadConfig({
    ITEMWISE_DATA: folder,
    ITEMWISE_PORT: '0',
    ITEMWISE_QUEUE: options.queue,
    ITEMWISE_SWEEP_EVERY: '500ms',
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'],
    ...options.env,
  });
  const store = await openStore({ file: databaseFile(config), patienceMs: 10_000 });
  const workers: { stop(): Promise<void> }[] = [];
  const { queue, work } = await openQueue(config, store, options, workers);
  const api = await startApi(makeRuntime(config, store, options.payloads, 'api'), queue);
  const client = new RigClient(api.url);
  const rig: Rig = {
    url: api.url,
    store,
    queue,
    config,
    submit: (...args) => client.submit(...args),
    job: (id) => client.get<JobJson>(`/v1/jobs/${id}`),
    ended: (id) => client.ended(id),
    items: (id) => client.items(id),
    post: (path) => client.post(path),
    work,
    stop: async () => {
      await api.stop();
      for (const worker of workers) await worker.stop();
      await queue.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return rig;
}

async function openQueue(
  config: Config,
  store: Store,
  options: RigOptions,
  workers: { stop(): Promise<void> }[],
): Promise<{ queue: JobQueue; work: () => Promise<void> }> {
  const parts = options.wrap ? { wrap: options.wrap } : {};
  const runtime = makeRuntime(config, store, options.payloads, 'worker');
  if (options.queue === 'in-process') {
    const worker = await startInProcessWorker(runtime, parts);
    workers.push(worker);
    return { queue: worker.queue, work: () => Promise.resolve() };
  }
  const queue = openTemporalQueue(runtime);
  await queue.prepare();
  const work = async (): Promise<void> => {
    const bundle = { codePath: process.env['TEST_WORKFLOW_BUNDLE']! };
    const worker = await startTemporalWorker(runtime, { ...parts, bundle });
    workers.push({
      stop: async () => {
        worker.stop();
        await worker.done;
      },
    });
  };
  if (!options.idle) await work();
  return { queue, work };
}

/** Speaks HTTP as a user would. */
class RigClient {
  constructor(private readonly url: string) {}

  async get<T>(path: string): Promise<T> {
    return this.answer<T>(await fetch(this.url + path));
  }

  async post(path: string): Promise<JobJson> {
    return this.answer(await fetch(this.url + path, { method: 'POST' }));
  }

  async submit(capability: string, items: readonly object[], more: object = {}): Promise<JobJson> {
    const body = JSON.stringify({ capability, ...more, items });
    const headers = { 'content-type': 'application/json' };
    return this.answer(await fetch(`${this.url}/v1/jobs`, { method: 'POST', headers, body }));
  }

  async ended(id: string): Promise<JobJson> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const job = await this.get<JobJson>(`/v1/jobs/${id}?wait=10`);
      if (job.finishedAt !== null) return job;
      if (Date.now() > until) throw new Error(`the job did not end: ${JSON.stringify(job)}`);
    }
  }

  async items(id: string): Promise<ItemJson[]> {
    const all: ItemJson[] = [];
    for (let after: string | null = ''; after !== null;) {
      const query: string = after === '' ? '' : `&after=${after}`;
      const page: { items: ItemJson[]; next: string | null } = await this.get(
        `/v1/jobs/${id}/items?limit=1000${query}`,
      );
      all.push(...page.items);
      after = page.next;
    }
    return all;
  }

  private async answer<T>(response: Response): Promise<T> {
    const body = (await response.json()) as T;
    if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
    return body;
  }
}

/** Items `0..n-1`, each with an input. */
export function itemsOf(n: number, input: (index: number) => unknown = () => ({})): { id: string; input: unknown }[] {
  return Array.from({ length: n }, (_, index) => ({ id: `i${index}`, input: input(index) }));
}

/** A promise with its handles: what tests wait on instead of sleeping. */
export function signal<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

/** Waits until a condition holds, looking again whenever the store changes. */
export async function until(store: Store, holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    const changed = signal();
    const unsubscribe = store.onChange(() => changed.resolve());
    const timer = setTimeout(() => changed.resolve(), 100);
    await changed.promise;
    clearTimeout(timer);
    unsubscribe();
  }
}
