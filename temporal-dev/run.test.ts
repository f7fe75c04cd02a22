import { run } from './run';

const env = process.env;

describe('run', () => {
  test('gives the standard output', async () => {
    expect(await run('/bin/sh', ['-c', 'echo out; echo err >&2'], { env, timeoutMs: 20_000 })).toBe('out\n');
  });

  test('a failure is told by the tail of what was written', async () => {
    const script = 'echo first; echo reason >&2; exit 3';
    await expect(run('/bin/sh', ['-c', script], { env, timeoutMs: 20_000 })).rejects.toThrow('reason');
  });

  test('a silent failure has its code or signal', async () => {
    await expect(run('/bin/sh', ['-c', 'exit 3'], { env, timeoutMs: 20_000 })).rejects.toThrow('code 3');
    await expect(run('/bin/sh', ['-c', 'kill -9 $$'], { env, timeoutMs: 20_000 })).rejects.toThrow('SIGKILL');
  });

  test('a program that is not there is said to be not found', async () => {
    await expect(run('no-such-program', [], { env: { PATH: '/' }, timeoutMs: 20_000 })).rejects.toThrow(
      'no-such-program was not found',
    );
  });

  test('is killed at the time limit, also when its helper holds the output open', async () => {
    const running = run('/bin/sh', ['-c', 'sleep 600 & wait'], { env, timeoutMs: 200 });
    await expect(running).rejects.toThrow('not done within 0.2 s');
  });
});
