import { killChild, spawnChild, type SpawnOptions } from './child';
import { OutputTail } from './output-tail';

export interface RunOptions extends SpawnOptions {
  /** The process is killed, with its helpers, after so many ms. */
  timeoutMs: number;
}

/** Runs a program to its end and gives what it wrote to its standard output. */
export type Run = (file: string, args: readonly string[], options: RunOptions) => Promise<string>;

/** @throws Error that says in a line or few why: not to be started, the time limit, or the tail of what it wrote. */
export const run: Run = (file, args, { timeoutMs, ...options }) =>
  new Promise((resolve, reject) => {
    const child = spawnChild(file, args, options);
    const tail = new OutputTail();
    let output = '';
    let timedOut = false;
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      tail.append(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => tail.append(chunk));
    const timer = setTimeout(() => {
      timedOut = true;
      killChild(child, 'SIGKILL');
    }, timeoutMs);
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code === 'ENOENT' ? new Error(`${file} was not found`) : error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (timedOut) reject(new Error(`not done within ${timeoutMs / 1_000} s`));
      else if (code === 0) resolve(output);
      else reject(new Error(tail.toString() || `ended with ${signal ?? `code ${code}`} and without a word`));
    });
  });
