import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { toMs, type Duration } from './contract';
import { QUEUE_KINDS } from './queue/port';

/** A setting: the environment variable it is read from, what it may be, its default, and what it means. */
interface Setting<T> {
  readonly env: string;
  readonly schema: z.ZodType<T, unknown>;
  readonly fallback: string | undefined;
  readonly meaning: string;
}

function setting<T>(
  env: string,
  schema: z.ZodType<T, unknown>,
  fallback: string | undefined,
  meaning: string,
): Setting<T> {
  return { env, schema, fallback, meaning };
}

const duration = z.string().transform((text, ctx): number => {
  try {
    return toMs((/^\d+$/.test(text) ? Number(text) : text) as Duration);
  } catch {
    ctx.addIssue({ code: 'custom', message: 'not a duration: write 30s, 5m, 250ms or a number of ms' });
    return z.NEVER;
  }
});
const atLeast = (ms: number) => duration.refine((value) => value >= ms, `under ${ms} ms`);
const count = (least: number, most: number) =>
  z.coerce.number('not a number').int('not a whole number').min(least, `under ${least}`).max(most, `over ${most}`);
const path = z.string().transform((text) => {
  const home = text.startsWith('~/') ? join(homedir(), text.slice(2)) : text;
  return isAbsolute(home) ? home : resolve(home);
});
const flag = z
  .enum(['0', '1', 'false', 'true'], 'neither true nor false')
  .transform((text) => text === '1' || text === 'true');

/** Every setting there is; the README's table is held to it by a test. */
export const SETTINGS = {
  dataDir: setting('ITEMWISE_DATA', path, '.itemwise', 'Folder of the SQLite file; API and worker share it.'),
  environment: setting(
    'ITEMWISE_ENV',
    z.string().regex(/^[a-z0-9-]{1,32}$/, 'not 1 to 32 lower-case letters, digits or hyphens'),
    'dev',
    'Name of the environment; part of the task queue name.',
  ),
  queue: setting(
    'ITEMWISE_QUEUE',
    z.enum(QUEUE_KINDS),
    'activity',
    'How units reach workers: `activity` (Temporal) or `in-process` (no server).',
  ),
  forceInProcess: setting(
    'ITEMWISE_FORCE_IN_PROCESS',
    flag,
    '0',
    'Allows the in-process queue with NODE_ENV=production.',
  ),
  host: setting(
    'ITEMWISE_HOST',
    z.enum(
      ['127.0.0.1', '::1', 'localhost'],
      'not a loopback address: until API keys exist the API binds loopback only',
    ),
    '127.0.0.1',
    'Loopback address that the API binds.',
  ),
  port: setting('ITEMWISE_PORT', count(0, 65_535), '8080', 'Port of the API; 0 takes a free one.'),
  payloads: setting(
    'ITEMWISE_PAYLOADS',
    path,
    undefined,
    'Module that exports the payloads to serve; without it the built-in ones.',
  ),
  temporalAddress: setting('TEMPORAL_ADDRESS', z.string().min(1), '127.0.0.1:7233', 'Temporal frontend, host:port.'),
  temporalNamespace: setting('TEMPORAL_NAMESPACE', z.string().min(1), 'default', 'Temporal namespace.'),
  temporalUiUrl: setting('TEMPORAL_UI_URL', z.url('not a URL'), undefined, 'Temporal UI, for links to a job.'),
  temporalDeadlineMs: setting(
    'ITEMWISE_TEMPORAL_DEADLINE',
    atLeast(100),
    '2s',
    'Longest call of Temporal by the API and the sweep.',
  ),
  temporalPatienceMs: setting(
    'ITEMWISE_TEMPORAL_PATIENCE',
    atLeast(100),
    '10s',
    'How long a worker waits at its start for a Temporal that is not up.',
  ),
  logLevel: setting(
    'ITEMWISE_LOG_LEVEL',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']),
    'info',
    'Least level that is logged.',
  ),
  maxBodyBytes: setting(
    'ITEMWISE_MAX_BODY_BYTES',
    count(1_000, 10_000_000_000),
    '1000000000',
    'Largest body of a submit, bytes.',
  ),
  maxItems: setting('ITEMWISE_MAX_ITEMS', count(1, 300_000), '300000', 'Most items of a job.'),
  maxUnits: setting('ITEMWISE_MAX_UNITS', count(1, 1_000), '100', 'Units that a worker runs at once.'),
  heartbeatTimeoutMs: setting(
    'ITEMWISE_HEARTBEAT_TIMEOUT',
    atLeast(1_000),
    '10s',
    'A unit whose worker is silent this long is lost.',
  ),
  unitBudgetMs: setting(
    'ITEMWISE_UNIT_BUDGET',
    atLeast(100),
    '60s',
    'After this long a unit hands back what it has not started.',
  ),
  shutdownGraceMs: setting(
    'ITEMWISE_SHUTDOWN_GRACE',
    duration,
    '10s',
    'How long running items may go on after SIGTERM.',
  ),
  sweepEveryMs: setting(
    'ITEMWISE_SWEEP_EVERY',
    atLeast(200),
    '5s',
    'How often forgotten and lost jobs are looked for.',
  ),
  rolloverEvents: setting(
    'ITEMWISE_ROLLOVER_EVENTS',
    count(50, 50_000),
    undefined,
    'History events at which a job continues as new, where Temporal does not suggest it before.',
  ),
  apiPatienceMs: setting(
    'ITEMWISE_API_STORE_PATIENCE',
    atLeast(100),
    '5s',
    'How long a request waits for a locked database before it answers 503.',
  ),
  workerPatienceMs: setting(
    'ITEMWISE_WORKER_STORE_PATIENCE',
    atLeast(100),
    '60s',
    'How long a unit waits for a locked database before it is handed back.',
  ),
} as const;

type Settings = typeof SETTINGS;
type Value<S> = S extends Setting<infer T> ? T : never;

/** The settings of a process: typed, checked, frozen. */
export type Config = Readonly<
  {
    [K in keyof Settings]: K extends 'payloads' | 'temporalUiUrl' | 'rolloverEvents'
      ? Value<Settings[K]> | undefined
      : Value<Settings[K]>;
  } & {
    production: boolean;
  }
>;

/** Every mistake in the settings, listed at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly mistakes: readonly string[]) {
    super(
      `the settings have ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
  }
}

/**
 * Reads the settings: an option given here (from a command-line flag) before the environment before the default.
 * @throws ConfigError with every mistake.
 */
export function loadConfig(
  env: NodeJS.ProcessEnv = process.env,
  options: Partial<Record<keyof Settings, string | undefined>> = {},
): Config {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = { production: env['NODE_ENV'] === 'production' };
  for (const [name, { env: variable, schema, fallback }] of Object.entries(SETTINGS) as [
    keyof Settings,
    Setting<unknown>,
  ][]) {
    const given = options[name] ?? (env[variable] || undefined);
    const text = given ?? fallback;
    if (text === undefined) continue;
    const parsed = schema.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    else
      mistakes.push(
        `${variable}=${JSON.stringify(text)}: ${parsed.error.issues.map((issue) => issue.message).join('; ')}`,
      );
  }
  const config = values as unknown as Config;
  if (mistakes.length === 0) mistakes.push(...contradictions(config));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return Object.freeze(config);
}

/** Settings that are well by themselves and not together. */
function contradictions(config: Config): string[] {
  const found: string[] = [];
  if (config.queue === 'in-process' && config.production && !config.forceInProcess) {
    found.push(
      'ITEMWISE_QUEUE=in-process does not survive its process, and NODE_ENV is production: set ITEMWISE_FORCE_IN_PROCESS=1 if you mean it',
    );
  }
  return found;
}

/** The SQLite file in the data folder. */
export function databaseFile(config: Config): string {
  return join(config.dataDir, 'itemwise.db');
}
