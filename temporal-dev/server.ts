import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { killChild, spawnChild, type Child } from './child';
import { DEV_DYNAMIC_CONFIG, type DynamicConfig } from './dynamic-config';
import { OutputTail } from './output-tail';
import { HOST, pickPort } from './ports';
import { waitUntilReady } from './ready';

/** Temporal's own defaults. */
export const DEFAULT_PORT = 7233;
export const DEFAULT_UI_PORT = 8233;
export const DEFAULT_NAMESPACE = 'default';

/** 0.2 s to 2 s were seen; this is for a loaded machine. */
const READY_MS = 30_000;

/** It was seen to stop in 1.1 s. */
const TERM_MS = 5_000;

/** A port that was free can be taken before the server listens on it; it also picks some of its own, as blindly. */
const MAX_STARTS = 5;

export interface DevServerOptions {
  /** Path of the Temporal CLI. */
  binary: string;
  /** Used when free, else a free one is. Default 7233. */
  port?: number | undefined;
  /** Used when free, else a free one is. Default 8233. */
  uiPort?: number | undefined;
  /** The SQLite file that keeps everything across restarts; default in memory. Its folder is made. */
  dbFile?: string | undefined;
  /** Name and type, as `Keyword`. */
  searchAttributes: Readonly<Record<string, string>>;
  /** Default `DEV_DYNAMIC_CONFIG`, which this replaces. */
  dynamicConfig?: DynamicConfig | undefined;
  /** Default `default`; another is made at the start. */
  namespace?: string | undefined;
  /** What the server writes is appended here; its folder is made. */
  logFile?: string | undefined;
  /** More arguments of `temporal server start-dev`. */
  extraArgs?: readonly string[] | undefined;
  /** Without the UI. */
  headless?: boolean | undefined;
  /** Of the server's process. Default `process.env`. */
  env?: NodeJS.ProcessEnv | undefined;
}

export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface DevServer {
  /** host:port of its gRPC service. */
  address: string;
  /** Undefined when headless. */
  uiUrl: string | undefined;
  pid: number;
  namespace: string;
  /** SIGTERM, after 5 s SIGKILL; resolves when it has ended, at once when it had already. */
  stop(): Promise<void>;
  /** Resolves when it has ended, for whatever reason. */
  exited: Promise<ServerExit>;
}

/** The server ended before it was ready. */
export class DevServerDied extends Error {
  override readonly name = 'DevServerDied';
  /** Another process took a port first; with other ports it may go well. */
  readonly portTaken: boolean;

  constructor({ code, signal }: ServerExit, output: string) {
    super(`The Temporal dev server ended before it was ready (${signal ?? `code ${code}`}):\n${output}`);
    this.portTaken = /address already in use|Only one usage of each socket address/i.test(output);
  }
}

interface Ports {
  port: number;
  uiPort: number;
}

/**
 * Starts a dev server on 127.0.0.1 and waits until it answers for the namespace. It ends with this process, also when
 * that is killed (on Windows only when it exits by itself; see child.ts).
 *
 * @throws DevServerDied when it ends early, with the tail of its output.
 * @throws Error when it cannot be executed, or is not ready within 30 s.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  for (const file of [options.dbFile, options.logFile]) {
    if (file !== undefined) await mkdir(dirname(file), { recursive: true });
  }
  for (let start = 1; ; start++) {
    const port = await pickPort(options.port ?? DEFAULT_PORT);
    const uiPort = await pickPort(options.uiPort ?? DEFAULT_UI_PORT, [port]);
    try {
      return await startOnce(options, { port, uiPort });
    } catch (error) {
      if (!(error instanceof DevServerDied && error.portTaken) || start === MAX_STARTS) throw error;
    }
  }
}

async function startOnce(options: DevServerOptions, ports: Ports): Promise<DevServer> {
  const child = spawnChild(options.binary, serverArgs(options, ports), { env: options.env ?? process.env });
  const exited = new Promise<ServerExit>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  const output = collectOutput(child, options.logFile);
  await once(child, 'spawn');
  const server: DevServer = {
    address: `${HOST}:${ports.port}`,
    uiUrl: options.headless ? undefined : `http://${HOST}:${ports.uiPort}`,
    pid: child.pid as number,
    namespace: options.namespace ?? DEFAULT_NAMESPACE,
    stop: () => stop(child, exited),
    exited,
  };
  const waiting = new AbortController();
  const died = exited.then((exit) => {
    throw new DevServerDied(exit, output.toString());
  });
  try {
    const ready = waitUntilReady(server.address, server.namespace, { deadlineMs: READY_MS, signal: waiting.signal });
    await Promise.race([ready, died]);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    waiting.abort();
  }
}

function serverArgs(options: DevServerOptions, { port, uiPort }: Ports): string[] {
  const { dbFile, namespace = DEFAULT_NAMESPACE, dynamicConfig = DEV_DYNAMIC_CONFIG } = options;
  const pairs = (flag: string, values: readonly string[]): string[] => values.flatMap((value) => [flag, value]);
  return [
    'server',
    'start-dev',
    ...['--ip', HOST, '--port', String(port)],
    ...(options.headless ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(dbFile === undefined ? [] : ['--db-filename', dbFile]),
    // `default` is made anyway.
    ...(namespace === DEFAULT_NAMESPACE ? [] : ['--namespace', namespace]),
    ...pairs(
      '--search-attribute',
      Object.entries(options.searchAttributes).map(([name, type]) => `${name}=${type}`),
    ),
    ...pairs(
      '--dynamic-config-value',
      Object.entries(dynamicConfig).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
    ),
    ...(options.extraArgs ?? []),
  ];
}

/** Reads all that the server writes, or it would block once a pipe is full. */
function collectOutput(child: Child, logFile: string | undefined): OutputTail {
  const tail = new OutputTail();
  const log = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' });
  // A log that cannot be written is no reason to be without a server.
  log?.on('error', () => undefined);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      tail.append(chunk);
      log?.write(chunk);
    });
  }
  child.once('close', () => log?.end());
  return tail;
}

async function stop(child: Child, exited: Promise<ServerExit>): Promise<void> {
  killChild(child, 'SIGTERM');
  const timer = setTimeout(() => killChild(child, 'SIGKILL'), TERM_MS);
  await exited;
  clearTimeout(timer);
}
