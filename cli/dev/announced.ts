import { lines } from './lines';
import { killChild, spawnChild, type Child } from '../../temporal-dev/child';
import { OutputTail } from '../../temporal-dev/output-tail';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process of ours that says on stdout, in a line of JSON, that it is at work. */
export interface Announced {
  readonly pid: number | undefined;
  /** What it announced. Never settles when it does not; see `exited`. */
  readonly announced: Promise<Readonly<Record<string, string>>>;
  readonly exited: Promise<Exit>;
  /** The last lines of its stderr. */
  tail(): string;
  /** SIGTERM; what ends it at once when it takes longer than `graceMs`. Resolves when it has ended. */
  stop(graceMs: number): Promise<Exit>;
  /** At once. */
  kill(): void;
}

export function describeExit({ code, signal }: Exit): string {
  return signal ?? `exit code ${code}`;
}

export interface LaunchOptions {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Told each line that it writes, but for the announcement. */
  readonly onLine: (line: string) => void;
  /** What ends it at once. A supervisor takes its worker with it on SIGQUIT; it could not on SIGKILL, the default. */
  readonly endAtOnce?: NodeJS.Signals;
}

/**
 * Starts a Node process in a process group of its own: the terminal's Ctrl-C does not reach it before we tell it. It
 * ends with this process, however that ends.
 */
export function launch({ args, env, onLine, endAtOnce = 'SIGKILL' }: LaunchOptions): Announced {
  const child = spawnChild(process.execPath, args, { env });
  const tail = new OutputTail();
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      tail.append(error.message);
      resolve({ code: null, signal: null });
    });
  });
  lines(child.stderr, (line) => {
    tail.append(`${line}\n`);
    onLine(line);
  });
  return {
    pid: child.pid,
    announced: announcement(child, onLine),
    exited,
    tail: () => tail.toString(),
    stop: (graceMs) => stop(child, exited, graceMs, endAtOnce),
    kill: () => killChild(child, endAtOnce),
  };
}

function announcement(child: Child, onLine: (line: string) => void): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve) => {
    lines(child.stdout, (line) => {
      const value = parse(line);
      // A supervisor announces its worker again after a restart: that is said in its log too.
      if (value) resolve(value);
      else onLine(line);
    });
  });
}

function parse(line: string): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}

async function stop(child: Child, exited: Promise<Exit>, graceMs: number, endAtOnce: NodeJS.Signals): Promise<Exit> {
  killChild(child, 'SIGTERM');
  const timer = setTimeout(() => killChild(child, endAtOnce), graceMs);
  try {
    return await exited;
  } finally {
    clearTimeout(timer);
  }
}
