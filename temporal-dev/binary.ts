import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import envPaths from 'env-paths';
import { EXE } from './child';
import { build, download, TEMPORAL_VERSION, type Obtain } from './obtain';
import { withProgress, type OnProgress } from './progress';
import { run as runProcess, type Run } from './run';

const VERSION_CHECK_MS = 5_000;

/** The folders in which something is downloaded or built. */
const WORK_PREFIX = 'obtaining-';

/** No download and no build is allowed to take so long (see obtain.ts). */
const ABANDONED_MS = 60 * 60_000;

export type BinarySource = 'path' | 'cache' | 'download' | 'built';

export interface TemporalBinary {
  path: string;
  how: BinarySource;
}

export interface FindOptions {
  env: NodeJS.ProcessEnv;
  /** Default: `ITEMWISE_TEMPORAL_CACHE`, else the user's cache folder of `itemwise`. */
  cacheDir?: string;
  onProgress?: OnProgress;
  /** Runs the programs; for tests. */
  run?: Run;
}

/** No way to a Temporal server worked; the message lists each with its reason, and what to install. */
export class TemporalUnavailable extends Error {
  override readonly name = 'TemporalUnavailable';

  constructor(tried: readonly string[]) {
    super(
      [
        'There is no Temporal server to use, and none could be started. Tried:',
        ...tried.map((line) => `  - ${line.replaceAll('\n', '\n    ')}`),
        'Do one of these:',
        '  - install the Temporal CLI: https://docs.temporal.io/cli',
        '  - install Go 1.25 or newer, with which the Temporal CLI is built once',
        '  - set TEMPORAL_ADDRESS to the address of a running server, such as 127.0.0.1:7233',
      ].join('\n'),
    );
  }
}

/** Where the downloaded or built binary is kept. */
export function temporalCacheDir(env: NodeJS.ProcessEnv): string {
  return env['ITEMWISE_TEMPORAL_CACHE'] || envPaths('itemwise', { suffix: '' }).cache;
}

/**
 * Finds a Temporal binary that answers `--version`, the nearest first: on PATH, in the cache, by the SDK's download,
 * by a build with Go (once, about 3 minutes). The last two put it into the cache.
 *
 * @throws TemporalUnavailable when none of them worked.
 */
export async function findTemporalBinary(options: FindOptions): Promise<TemporalBinary> {
  const { env, cacheDir = temporalCacheDir(env), onProgress = () => undefined, run = runProcess } = options;
  const cached = join(cacheDir, `temporal-${TEMPORAL_VERSION}${EXE}`);
  const check = (path: string): Promise<string> => checkVersion(path, env, run);
  const fetch = (what: string, obtain: Obtain): Promise<string> =>
    withProgress(what, onProgress, () => intoCache(cached, cacheDir, (dir) => obtain(dir, env, run).then(check)));

  const ways: { how: BinarySource; title: string; find: () => Promise<string> }[] = [
    { how: 'path', title: '`temporal` on PATH', find: async () => check(await onPath(`temporal${EXE}`, env)) },
    { how: 'cache', title: `the cache, ${cached}`, find: async () => check(await executable(cached)) },
    {
      how: 'download',
      title: "the Temporal SDK's download",
      find: () => fetch('downloading the Temporal dev server (once)', download),
    },
    {
      how: 'built',
      title: 'a build with Go',
      find: () => fetch('building the Temporal dev server with Go (once, about 3 minutes)', build),
    },
  ];
  const tried: string[] = [];
  for (const { how, title, find } of ways) {
    try {
      return { path: await find(), how };
    } catch (error) {
      tried.push(`${title}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new TemporalUnavailable(tried);
}

/**
 * `obtain` works in a folder of its own, and only a binary that proved itself is renamed into place, which is atomic:
 * a killed build leaves no half binary, and of two builds at once the last wins.
 */
async function intoCache(cached: string, cacheDir: string, obtain: (dir: string) => Promise<string>): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  await removeAbandoned(cacheDir);
  const dir = await mkdtemp(join(cacheDir, WORK_PREFIX));
  try {
    await rename(await obtain(dir), cached);
    return cached;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** What a process that was killed at it left behind: up to 250 MB. */
async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith(WORK_PREFIX)) continue;
    const dir = join(cacheDir, name);
    const changedAt = await stat(dir).then(
      (stats) => stats.mtimeMs,
      () => Infinity,
    );
    if (Date.now() - changedAt > ABANDONED_MS) await rm(dir, { recursive: true, force: true });
  }
}

/** The path again when the binary says that it is a Temporal CLI. */
async function checkVersion(path: string, env: NodeJS.ProcessEnv, run: Run): Promise<string> {
  const said = await run(path, ['--version'], { env, timeoutMs: VERSION_CHECK_MS }).catch((error: Error) => {
    throw new Error(`${path} --version failed: ${error.message}`);
  });
  if (!/^temporal version /m.test(said)) throw new Error(`${path} --version answered: ${said.trim().slice(0, 200)}`);
  return path;
}

async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string> {
  for (const dir of (env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const found = await executable(join(dir, name)).catch(() => undefined);
    if (found !== undefined) return found;
  }
  throw new Error('not found');
}

/** The path again when it is a file that may be executed. */
async function executable(path: string): Promise<string> {
  const isFile = await stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (!isFile) throw new Error('not there');
  await access(path, constants.X_OK);
  return path;
}
