import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { EXIT } from './exit-codes';

/** What a command needs of the process and of time: tests give it another. */
export interface Session {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: NodeJS.ProcessEnv;
  /** Whether stderr is a terminal, where a progress bar can be drawn. */
  readonly terminal: boolean;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface Clock {
  now(): number;
  /** Resolves early, and without an error, when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal && { signal }).catch(() => undefined),
};

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The session of this process. From now on the first Ctrl-C aborts `signal`, the second ends the process at once. */
export function openSession(): Session {
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort();
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, terminal: stderr.isTTY, signal: stop.signal, clock: systemClock };
}
