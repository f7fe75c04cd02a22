/**
 * Child processes that end with this one. Each leads a process group of its own: a Ctrl-C in the terminal then
 * reaches only us, so that workers can drain before the server goes, and one signal ends a child with all its helpers.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

const IS_WINDOWS = process.platform === 'win32';

/** What `.exe` an executable's file name ends with here. */
export const EXE = IS_WINDOWS ? '.exe' : '';

export type Child = ChildProcessByStdio<null, Readable, Readable>;

export interface SpawnOptions {
  env: NodeJS.ProcessEnv;
  cwd?: string;
}

/** Starts `file` with its output piped. That it could not be started is the child's `error` event. */
export function spawnChild(file: string, args: readonly string[], options: SpawnOptions): Child {
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: !IS_WINDOWS });
  if (child.pid !== undefined) endWithThisProcess(child, child.pid);
  return child;
}

/** Sends `signal` to the child and its whole group. One that has ended already is no error. */
export function killChild(child: Child, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (IS_WINDOWS) child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // It ended between the check and the signal.
  }
}

/**
 * The 'exit' event covers an orderly end. It is not emitted when a signal ends this process, and nothing in this
 * process outlives a kill -9; a guardian covers both: a shell that waits for its input to be closed, which the
 * kernel does however we end. Windows has no such shell: there a killed parent leaves its children running.
 */
function endWithThisProcess(child: Child, pid: number): void {
  const onExit = (): void => killChild(child, 'SIGTERM');
  process.once('exit', onExit);
  const guardian = IS_WINDOWS ? undefined : startGuardian(pid);
  child.once('exit', () => {
    process.removeListener('exit', onExit);
    // At once, before the id can belong to another process.
    guardian?.kill('SIGKILL');
  });
}

/** SIGTERM, and SIGKILL after 5 s, as in `stop()` of the server. */
const GUARDIAN = `
read -r _
kill -TERM -"$1"
for second in 1 2 3 4 5; do
  sleep 1
  kill -0 -"$1" || exit
done
kill -KILL -"$1"
`;

function startGuardian(pid: number): ReturnType<typeof spawn> {
  const guardian = spawn('/bin/sh', ['-c', GUARDIAN, 'guardian', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // A system without this shell is left with the 'exit' event.
  guardian.on('error', () => undefined);
  guardian.stdin?.on('error', () => undefined);
  return guardian;
}
