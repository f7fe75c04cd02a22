import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ItemJson, JobJson } from '../../api';

/** ITEMWISE_TEST_DIST names another build than the one in place. */
const DIST = process.env['ITEMWISE_TEST_DIST'] ?? join(__dirname, '..', '..', 'dist');
const CLI = join(DIST, 'cli', 'main.js');
const PAYLOADS = join(__dirname, 'chaos-payloads.ts');

/** A process of the product, which a test may end as it likes. */
export interface Proc {
  readonly pid: number;
  readonly firstLine: string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal: NodeJS.Signals): void;
}

/** A worker: its supervisor, and the worker proper below that. */
export interface WorkerProc extends Proc {
  /** Of the worker proper; another one after a restart. */
  readonly workerPid: number;
  /** Ends the worker proper alone. `kill` of SIGKILL ends all of it at once, as when the machine died. */
  crash(signal?: NodeJS.Signals): void;
}

/** How a process ended by itself, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** From its start to its end, ms. */
  readonly ms: number;
}

type Role = 'api' | 'worker';

/** API and workers as real processes, on a folder of their own. */
export class Service {
  readonly folder = mkdtempSync(join(tmpdir(), 'itemwise-chaos-'));
  /** One line for each run of an item: the ledger of whoever is called. */
  readonly ledger = join(this.folder, 'ledger.txt');
  private readonly processes = new Set<Proc>();
  private readonly stderr = openSync(join(this.folder, 'stderr.log'), 'a');
  url = '';

  constructor(private readonly env: Record<string, string>) {
    process.on('exit', this.killAll);
  }

  get temporalAddress(): string | undefined {
    return this.env['TEMPORAL_ADDRESS'];
  }

  async startApi(env: Record<string, string> = {}): Promise<Proc> {
    const api = await this.launch('api', env);
    this.url = (JSON.parse(api.firstLine) as { listening: string }).listening;
    return api;
  }

  async startWorker(env: Record<string, string> = {}): Promise<WorkerProc> {
    let workerPid = 0;
    const supervisor = await this.launch('worker', env, (line) => {
      if (line.startsWith('{"working":')) workerPid = (JSON.parse(line) as { pid: number }).pid;
    });
    return this.keep({
      ...supervisor,
      get workerPid() {
        return workerPid;
      },
      crash: (signal = 'SIGKILL') => process.kill(workerPid, signal),
      kill: (signal) => {
        supervisor.kill(signal);
        if (signal === 'SIGKILL') killGroup(workerPid);
      },
    });
  }

  /** Runs a process that is expected to end by itself. */
  async runToEnd(role: Role, env: Record<string, string> = {}): Promise<Ended> {
    const from = Date.now();
    const child = spawn(process.execPath, [CLI, role], { env: this.envOf(env), stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
    const closed = once(child, 'close');
    const end = await this.keep(procOf(child, '')).exited;
    await closed;
    return { ...end, stderr, ms: Date.now() - from };
  }

  private keep<P extends Proc>(proc: P): P {
    this.processes.add(proc);
    void proc.exited.then(() => this.processes.delete(proc));
    return proc;
  }

  private envOf(env: Record<string, string>): NodeJS.ProcessEnv {
    return {
      ...process.env,
      ITEMWISE_DATA: this.folder,
      ITEMWISE_PORT: '0',
      ITEMWISE_PAYLOADS: PAYLOADS,
      ITEMWISE_LOG_LEVEL: 'error',
      ITEMWISE_SWEEP_EVERY: '1s',
      TEST_LEDGER: this.ledger,
      // What a process leaves behind that is killed with all others goes with the folder.
      TMPDIR: this.folder,
      TEST_MARKS: this.folder,
      ...this.env,
      ...env,
    };
  }

  private async launch(
    role: Role,
    env: Record<string, string> = {},
    onLine: (line: string) => void = () => undefined,
  ): Promise<Proc> {
    const child: ChildProcess = spawn(process.execPath, [CLI, role], {
      env: this.envOf(env),
      // Not jest's own: a worker of it that says "heap out of memory" is ended by jest, whoever said so.
      stdio: ['ignore', 'pipe', this.stderr],
    });
    const starting = this.keep(procOf(child, ''));
    const firstLine = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        onLine(line);
        resolve(line);
      });
      void starting.exited.then(({ code }) => {
        const said = readFileSync(join(this.folder, 'stderr.log'), 'utf8');
        reject(new Error(`the ${role} ended with ${code} before it was ready:\n${said}`));
      });
    });
    return { ...starting, firstLine };
  }

  /** @param options of the job, as in a submit. */
  async submit(capability: string, inputs: readonly object[], options: object = {}): Promise<JobJson> {
    const response = await this.send(capability, inputs, { options });
    if (response.status !== 202) throw new Error(await response.text());
    return parse(response);
  }

  /** A submit as it is answered, whatever that is. */
  send(
    capability: string,
    inputs: readonly object[],
    { options = {}, key }: { readonly options?: object; readonly key?: string } = {},
  ): Promise<Response> {
    const query = new URLSearchParams({ capability, options: JSON.stringify(options) });
    return fetch(`${this.url}/v1/jobs?${query.toString()}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', ...(key !== undefined && { 'idempotency-key': key }) },
      body: inputs.map((input, index) => JSON.stringify({ id: `i${index}`, input })).join('\n'),
    });
  }

  async get<T = JobJson>(path: string): Promise<T> {
    const response = await fetch(this.url + path);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return parse(response);
  }

  async post(path: string): Promise<JobJson> {
    return parse(await fetch(this.url + path, { method: 'POST' }));
  }

  async results(id: string): Promise<ItemJson[]> {
    const text = await (await fetch(`${this.url}/v1/jobs/${id}/results`)).text();
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as ItemJson);
  }

  /** How often each item was run, by id. */
  runs(): Map<string, number> {
    const counts = new Map<string, number>();
    if (!existsSync(this.ledger)) return counts;
    for (const id of readFileSync(this.ledger, 'utf8').split('\n').filter(Boolean))
      counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }

  /** Waits until a job is as wanted, by long-polling it. */
  async until(id: string, holds: (job: JobJson) => boolean, patienceMs = 60_000): Promise<JobJson> {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const job = await this.get(`/v1/jobs/${id}?wait=${0}`);
      if (holds(job)) return job;
      if (Date.now() > deadline) throw new Error(`waited in vain for the job: ${JSON.stringify(job)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  ended(id: string, patienceMs?: number): Promise<JobJson> {
    return this.until(id, (job) => job.finishedAt !== null, patienceMs);
  }

  /** Also when this process ends before it has come to `stop`. */
  private readonly killAll = (): void => {
    for (const proc of this.processes) proc.kill('SIGKILL');
  };

  /** Ends what is left and removes the folder. */
  async stop(): Promise<void> {
    process.off('exit', this.killAll);
    const left = [...this.processes];
    this.killAll();
    await Promise.all(left.map((proc) => proc.exited));
    closeSync(this.stderr);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Not by `json()`, which under jest makes objects of another realm: they are equal to none of a test's own. */
export async function parse<T>(response: Response): Promise<T> {
  return JSON.parse(await response.text()) as T;
}

function procOf(child: ChildProcess, firstLine: string): Proc {
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  return { pid: child.pid!, firstLine, exited, kill: (signal) => void child.kill(signal) };
}

/** The worker proper leads a group: with it goes what it has started itself. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
