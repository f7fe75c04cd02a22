/**
 * Ends this process when its event loop has not turned for a while: its units are lost by then, and nothing else in it
 * could end it.
 *
 *   index.ts       the side of the event loop that is watched     turn-count.ts  when it counts as blocked
 *   thread.ts      the watchdog, a thread of its own
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Log } from '../../activities';
import { TICKS } from './turn-count';

export interface WatchdogOptions {
  /** How long the event loop may be blocked, ms. */
  readonly limitMs: number;
  /** Where what had started is read and the reason is written, see `traces`. */
  readonly traces: string;
  readonly logLevel: string;
  readonly log: Log;
}

export type WatchdogData = Pick<WatchdogOptions, 'limitMs' | 'traces' | 'logLevel'> & {
  /** Counted up by the event loop as it turns. */
  readonly turns: Int32Array;
};

/** Does not keep the process alive. Returns what ends it. */
export function startWatchdog({ log, ...options }: WatchdogOptions): () => void {
  const turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const data: WatchdogData = { ...options, turns };
  const thread = startThread({ workerData: data });
  thread.unref();
  thread.once('error', (error) => log.error({ err: error }, 'the watchdog of the event loop has failed'));
  const timer = setInterval(() => Atomics.add(turns, 0, 1), options.limitMs / TICKS).unref();
  return () => {
    clearInterval(timer);
    void thread.terminate();
  };
}

/** The build's thread, or that of the sources, which have to be compiled first. */
function startThread(options: WorkerOptions): Worker {
  const compiled = join(__dirname, 'thread.js');
  if (existsSync(compiled)) return new Worker(compiled, options);
  const [jiti, source] = [require.resolve('jiti'), join(__dirname, 'thread.ts')].map((path) => JSON.stringify(path));
  return new Worker(`require(${jiti}).createJiti(${source})(${source})`, { ...options, eval: true });
}
