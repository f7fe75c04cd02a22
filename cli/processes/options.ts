import { loadConfig, type Config } from '../../config';

/** What every process takes on its command line. */
export interface ProcessOptions {
  port?: string | undefined;
  payloads?: string | undefined;
  data?: string | undefined;
}

/** @throws ConfigError */
export function configOf(options: ProcessOptions, overrides: Parameters<typeof loadConfig>[1] = {}): Config {
  const { port, payloads, data } = options;
  return loadConfig(process.env, { ...overrides, port, payloads, dataDir: data });
}

/** One line of JSON for whoever started the process. */
export function announce(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
