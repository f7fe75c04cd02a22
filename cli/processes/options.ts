import { join } from 'node:path';
import { loadConfig, type Config } from '../../config';
import type { NodeCommand } from '../../worker/watched-process';

/** What every process takes on its command line. */
export interface ProcessOptions {
  port?: string | undefined;
  payloads?: string | undefined;
  data?: string | undefined;
}

/** What a process takes that another one of ours starts and watches. */
export interface WatchedOptions extends ProcessOptions {
  /** Folder for what it leaves behind. */
  readonly traces: string;
}

/** @throws ConfigError */
export function configOf(options: ProcessOptions, overrides: Parameters<typeof loadConfig>[1] = {}): Config {
  const { port, payloads, data } = options;
  return loadConfig(process.env, { ...overrides, port, payloads, dataDir: data });
}

/** How a process of ours is started with the options of this one. */
export function commandOf(name: 'worker-process' | 'quarantine-process', options: ProcessOptions): NodeCommand {
  const { payloads, data } = options;
  return {
    file: join(__dirname, '..', 'main.js'),
    args: [
      name,
      ...(data === undefined ? [] : ['--data', data]),
      ...(payloads === undefined ? [] : ['--payloads', payloads]),
    ],
  };
}

/** One line of JSON for whoever started the process. */
export function announce(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
