/** The two ways to get a Temporal binary that is not on this machine yet: the SDK's download, and a build with Go. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EXE } from './child';
import type { Run } from './run';

/**
 * The Temporal CLI that is downloaded or built: server 1.29.1. It is the last version that `go install` can build;
 * from v1.6.0 on its go.mod has a `replace`.
 */
export const TEMPORAL_VERSION = 'v1.5.1';

const DOWNLOAD_LIMIT_MS = 120_000;

/** A build was seen to take 3 minutes on 2 cores; this is for slow machines and slow lines. */
const BUILD_LIMIT_MS = 20 * 60_000;

/**
 * What downloads: the SDK does it as a part of a server's start. It runs in a process of its own, because it would
 * install the SDK's runtime, of which a process has only one, and because it has no time limit of its own.
 */
const DOWNLOAD_SCRIPT = `
const [testing, downloadDir, version] = process.argv.slice(1);
const executable = { type: 'cached-download', downloadDir, version };
require(testing)
  .TestWorkflowEnvironment.createLocal({ server: { executable } })
  .then((environment) => environment.teardown())
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
`;

/** Makes a binary in `dir`, which is empty, and gives its path. */
export type Obtain = (dir: string, env: NodeJS.ProcessEnv, run: Run) => Promise<string>;

/** Downloads it with the Temporal SDK. @throws Error when that fails or takes longer than 120 s. */
export const download: Obtain = async (dir, env, run) => {
  const args = ['-e', DOWNLOAD_SCRIPT, require.resolve('@temporalio/testing'), dir, TEMPORAL_VERSION];
  const failure = await run(process.execPath, args, { env, timeoutMs: DOWNLOAD_LIMIT_MS }).then(
    () => new Error('the download left no file'),
    (error: unknown) => error,
  );
  // Only the server's start after the download may have failed, for which the SDK allows no more than 5 s.
  const finished = (await readdir(dir)).find((name) => !name.endsWith('.downloading'));
  if (finished === undefined) throw failure;
  return join(dir, finished);
};

/** Builds it with the `go` on PATH. @throws Error when that fails or takes longer than 20 minutes. */
export const build: Obtain = async (dir, env, run) => {
  const args = ['install', `github.com/temporalio/cli/cmd/temporal@${TEMPORAL_VERSION}`];
  await run('go', args, { env: { ...env, GOBIN: dir }, cwd: dir, timeoutMs: BUILD_LIMIT_MS });
  return join(dir, `temporal${EXE}`);
};
