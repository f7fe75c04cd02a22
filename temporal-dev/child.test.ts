import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { killChild, spawnChild, type Child } from './child';
import { isRunning, nodeArgs, until } from './fixtures/helpers';

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  const [chunk] = (await once(stream, 'data')) as [Buffer];
  return chunk.toString().trim();
}

describe('spawnChild', () => {
  test('one signal ends the child and what it started', async () => {
    const child = spawnChild('/bin/sh', ['-c', 'sleep 600 & echo $!; wait'], { env: process.env });
    const grandchild = Number(await firstLine(child.stdout));
    killChild(child, 'SIGKILL');
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    await until(() => !isRunning(grandchild));
    killChild(child, 'SIGKILL');
  });

  test('a program that is not there is an error event, and nothing to kill', async () => {
    const child: Child = spawnChild('/no/such/program', [], { env: process.env });
    const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ENOENT');
    killChild(child, 'SIGKILL');
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('the child ends when %s ends its parent', async (signal) => {
    const use = "console.log(it.spawnChild('sleep', ['600'], { env: process.env }).pid)";
    const parent = spawn(process.execPath, nodeArgs('child.ts', use), { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number(await firstLine(parent.stdout));
    expect(isRunning(pid)).toBe(true);
    parent.kill(signal);
    await until(() => !isRunning(pid));
  });

  test('the child ends when its parent exits', async () => {
    const use =
      "console.log(it.spawnChild('sleep', ['600'], { env: process.env }).pid); setImmediate(() => process.exit(0));";
    const parent = spawn(process.execPath, nodeArgs('child.ts', use), { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number(await firstLine(parent.stdout));
    await until(() => !isRunning(pid));
  });
});
