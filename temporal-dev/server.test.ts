import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withTempDir, writeScript } from './fixtures/helpers';
import { DevServerDied, startDevServer, type DevServerOptions } from './server';

/** Starts a script instead of a server, and gives the error. */
function startScript(body: string, options: (dir: string) => Partial<DevServerOptions> = () => ({})): Promise<unknown> {
  return withTempDir(async (dir) => {
    const binary = await writeScript(join(dir, 'temporal'), body.replaceAll('DIR', dir));
    const error = await startDevServer({ binary, searchAttributes: {}, ...options(dir) }).catch((e: unknown) => e);
    const log = await readFile(join(dir, 'logs', 'temporal.log'), 'utf8').catch(() => undefined);
    const starts = await readFile(join(dir, 'starts'), 'utf8').catch(() => '');
    return { error, log, starts };
  });
}

describe('startDevServer', () => {
  test('a server that ends early is an error with the tail of its output, which is logged too', async () => {
    const logFile = (dir: string): Partial<DevServerOptions> => ({ logFile: join(dir, 'logs', 'temporal.log') });
    const result = await startScript('echo "unknown flag: --nope" >&2; exit 3', logFile);
    const { error, log } = result as { error: DevServerDied; log: string };
    expect(error).toBeInstanceOf(DevServerDied);
    expect(error.message).toBe('The Temporal dev server ended before it was ready (code 3):\nunknown flag: --nope');
    expect(error.portTaken).toBe(false);
    expect(log).toBe('unknown flag: --nope\n');
  });

  test('is told all that was asked for', async () => {
    const { error } = (await startScript('echo "$@"; exit 1', (dir) => ({
      dbFile: join(dir, 'data', 'temporal.db'),
      searchAttributes: { Color: 'Keyword' },
      dynamicConfig: { 'some.number': 7, 'some.text': 'x' },
      namespace: 'mine',
      extraArgs: ['--log-level', 'error'],
      headless: true,
    }))) as { error: Error };
    expect(error.message).toMatch(
      /server start-dev --ip 127\.0\.0\.1 --port \d+ --headless --db-filename \S+temporal\.db/,
    );
    expect(error.message).toContain(
      '--namespace mine --search-attribute Color=Keyword ' +
        '--dynamic-config-value some.number=7 --dynamic-config-value some.text="x" --log-level error',
    );
  });

  test('by default with a UI and what the product wants of the matching', async () => {
    const { error } = (await startScript('echo "$@"; exit 1')) as { error: Error };
    expect(error.message).toMatch(/--port \d+ --ui-port \d+ --dynamic-config-value history/);
    expect(error.message).toContain('--dynamic-config-value matching.enableFairness=true');
    expect(error.message).not.toContain('--namespace');
  });

  test('starts again when another process takes a port first, but not for ever', async () => {
    const body = 'echo start >> DIR/starts; echo "listen tcp 127.0.0.1:1: bind: address already in use" >&2; exit 1';
    const { error, starts } = (await startScript(body)) as { error: DevServerDied; starts: string };
    expect(error.portTaken).toBe(true);
    expect(starts.trim().split('\n')).toHaveLength(5);
  });

  test('a binary that cannot be executed is an error', async () => {
    const start = startDevServer({ binary: '/no/such/temporal', searchAttributes: {} });
    await expect(start).rejects.toThrow('ENOENT');
  });
});
