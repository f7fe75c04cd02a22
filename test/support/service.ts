import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ItemJson, JobJson } from '../../api';

const CLI = join(__dirname, '..', '..', 'dist', 'cli', 'main.js');
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

/** API and workers as real processes, on a folder of their own. */
export class Service {
  readonly folder = mkdtempSync(join(tmpdir(), 'itemwise-chaos-'));
  /** One line for each run of an item: the ledger of whoever is called. */
  readonly ledger = join(this.folder, 'ledger.txt');
  private readonly processes = new Set<Proc>();
  private readonly stderr = openSync(join(this.folder, 'stderr.log'), 'a');
  url = '';

  constructor(private readonly env: Record<string, string>) {}

  async startApi(): Promise<Proc> {
    const api = this.keep(await this.launch('api'));
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

  private keep<P extends Proc>(proc: P): P {
    this.processes.add(proc);
    void proc.exited.then(() => this.processes.delete(proc));
    return proc;
  }

  private async launch(
    role: 'api' | 'worker',
    env: Record<string, string> = {},
    onLine: (line: string) => void = () => undefined,
  ): Promise<Proc> {
    const child: ChildProcess = spawn(process.execPath, [CLI, role], {
      env: {
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
      },
      // Not jest's own: a worker of it that says "heap out of memory" is ended by jest, whoever said so.
      stdio: ['ignore', 'pipe', this.stderr],
    });
    const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal })),
    );
    const firstLine = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        onLine(line);
        resolve(line);
      });
      child.once('exit', (code) => {
        const said = readFileSync(join(this.folder, 'stderr.log'), 'utf8');
        reject(new Error(`the ${role} ended with ${code} before it was ready:\n${said}`));
      });
    });
    return { pid: child.pid!, firstLine, exited, kill: (signal) => void child.kill(signal) };
  }

  async submit(capability: string, inputs: readonly object[]): Promise<JobJson> {
    const response = await fetch(`${this.url}/v1/jobs?capability=${capability}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: inputs.map((input, index) => JSON.stringify({ id: `i${index}`, input })).join('\n'),
    });
    if (response.status !== 202) throw new Error(await response.text());
    return (await response.json()) as JobJson;
  }

  async get<T = JobJson>(path: string): Promise<T> {
    const response = await fetch(this.url + path);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  async post(path: string): Promise<JobJson> {
    return (await (await fetch(this.url + path, { method: 'POST' })).json()) as JobJson;
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

  /** Ends what is left and removes the folder. */
  async stop(): Promise<void> {
    const left = [...this.processes];
    for (const proc of left) proc.kill('SIGKILL');
    await Promise.all(left.map((proc) => proc.exited));
    closeSync(this.stderr);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The worker proper leads a group: with it goes what it has started itself. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
