import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A process under measurement. */
export interface Measured {
  readonly firstLine: string;
  /** Highest resident memory so far, MB; the kernel keeps the mark. */
  peakRssMb(): number;
  stop(): Promise<void>;
}

/** Starts a Node process and resolves with the first line it prints. */
export async function start(args: readonly string[], env: Record<string, string> = {}): Promise<Measured> {
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const firstLine = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code} before it was ready`)));
  });
  // A worker names the process that works, which is not its supervisor.
  const pid = /"pid":(\d+)/.exec(firstLine)?.[1] ?? child.pid;
  return {
    firstLine,
    peakRssMb: () => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
