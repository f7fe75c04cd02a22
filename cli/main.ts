#!/usr/bin/env node
/** The command line: `itemwise`. */
import { EXIT } from './exit-codes';
import { flushed } from './output';
import { runCli } from './run-cli';
import { openSession, type Session } from './session';

/** What still holds the process when all is done, such as a pooled connection, is not waited for. */
const LINGER_MS = 1_000;

async function main(): Promise<void> {
  const { stdout, stderr, env } = process;
  // `itemwise results JOB | head`: who has read enough is no error.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(EXIT.ok);
  });
  stderr.on('error', () => undefined);
  let session: Session | undefined;
  process.exitCode = await runCli(process.argv.slice(2), {
    stdout,
    stderr,
    env,
    session: () => (session ??= openSession()),
  });
  await Promise.all([flushed(stdout), flushed(stderr)]);
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

void main();
