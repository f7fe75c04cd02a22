/** With the real server: found or, once, built on this machine. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { isRunning, nodeArgs, until, withTempDir } from './fixtures/helpers';
import {
  DEFAULT_PORT,
  DEFAULT_UI_PORT,
  ensureTemporal,
  findTemporalBinary,
  registerSearchAttributes,
  SEARCH_ATTRIBUTES,
  startDevServer,
  type DevServer,
  type DevServerOptions,
} from './index';
import { HOST, pickPort } from './ports';

/** A build may be needed first. */
const BUILD_MS = 600_000;
const START_MS = 120_000;

let binary: string;

beforeAll(async () => {
  const found = await findTemporalBinary({ env: process.env, onProgress: (message) => console.info(message) });
  binary = found.path;
}, BUILD_MS);

async function withServer<T>(
  options: Partial<DevServerOptions>,
  use: (server: DevServer, connection: Connection) => Promise<T>,
): Promise<T> {
  const [port, uiPort] = [await pickPort(0), await pickPort(0)];
  const server = await startDevServer({ binary, port, uiPort, searchAttributes: SEARCH_ATTRIBUTES, ...options });
  const connection = await Connection.connect({ address: server.address });
  try {
    return await use(server, connection);
  } finally {
    await connection.close();
    await server.stop();
  }
}

async function customAttributes(connection: Connection, namespace: string): Promise<Record<string, unknown>> {
  return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes ?? {};
}

/** Holds a port until `release`; one that is taken already is as good. */
async function occupy(port: number): Promise<() => Promise<void>> {
  const holder = createServer();
  const held = await new Promise<boolean>((resolve) => {
    holder.once('error', () => resolve(false));
    holder.listen(port, HOST, () => resolve(true));
  });
  return async () => {
    if (held) await once(holder.close(), 'close');
  };
}

describe('startDevServer', () => {
  test(
    'serves on the ports asked for, with UI, search attributes and dynamic config; stop leaves no process',
    () =>
      withTempDir(async (dir) => {
        const [port, uiPort] = [await pickPort(0), await pickPort(0)];
        const logFile = join(dir, 'logs', 'temporal.log');
        const pid = await withServer({ port, uiPort, logFile }, async (server, connection) => {
          expect(server.address).toBe(`127.0.0.1:${port}`);
          expect(server.uiUrl).toBe(`http://127.0.0.1:${uiPort}`);
          expect((await fetch(server.uiUrl as string)).status).toBe(200);
          expect(Object.keys(await customAttributes(connection, 'default')).sort()).toEqual(
            expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)),
          );
          expect(isRunning(server.pid)).toBe(true);
          return server.pid;
        });
        expect(isRunning(pid)).toBe(false);
        // A value of the wrong type is only a warning in the log.
        expect(await readFile(logFile, 'utf8')).not.toMatch(/convert value|dynamic ?config/i);
      }),
    START_MS,
  );

  test(
    'takes other ports when the default ones are taken',
    async () => {
      const release = [await occupy(DEFAULT_PORT), await occupy(DEFAULT_UI_PORT)];
      try {
        await withServer({ port: undefined, uiPort: undefined }, async (server) => {
          expect(server.address).not.toBe(`127.0.0.1:${DEFAULT_PORT}`);
          expect(server.uiUrl).not.toBe(`http://127.0.0.1:${DEFAULT_UI_PORT}`);
          expect((await fetch(server.uiUrl as string)).status).toBe(200);
        });
      } finally {
        for (const free of release) await free();
      }
    },
    START_MS,
  );

  test(
    'two that start at once get ports of their own',
    async () => {
      const same = { port: await pickPort(0), uiPort: await pickPort(0) };
      const addresses = await Promise.all([
        withServer(same, async (server) => server.address),
        withServer(same, async (server) => server.address),
      ]);
      expect(addresses).toContain(`127.0.0.1:${same.port}`);
    },
    START_MS,
  );

  test(
    'data in a file survives a restart',
    () =>
      withTempDir(async (dir) => {
        const options = { dbFile: join(dir, 'data', 'temporal.db'), namespace: 'kept', headless: true };
        await withServer(options, async (server, connection) => {
          expect(server.uiUrl).toBeUndefined();
          const { workflow } = new Client({ connection, namespace: 'kept' });
          await workflow.start('any', {
            taskQueue: 'nobody',
            workflowId: 'survivor',
            searchAttributes: { ItemwiseState: ['running'] },
          });
        });
        await withServer(options, async (_, connection) => {
          const { workflow } = new Client({ connection, namespace: 'kept' });
          const description = await workflow.getHandle('survivor').describe();
          expect(description.status.name).toBe('RUNNING');
          expect(await customAttributes(connection, 'kept')).toMatchObject({ ItemwiseState: 2, ItemwiseTenant: 2 });
        });
      }),
    START_MS,
  );

  test(
    'search attributes can be registered later, also twice',
    () =>
      withServer({ searchAttributes: {}, headless: true }, async (_, connection) => {
        const register = (): ReturnType<typeof registerSearchAttributes> =>
          registerSearchAttributes(connection, 'default', { deadlineMs: 20_000 });
        expect(await Promise.all([register(), register()])).toEqual([{ ok: true }, { ok: true }]);
        expect(await register()).toEqual({ ok: true });
        expect(await customAttributes(connection, 'default')).toMatchObject({ ItemwiseCapability: 2 });
        expect(await registerSearchAttributes(connection, 'no-such', { deadlineMs: 20_000 })).toMatchObject({
          ok: false,
          reason: expect.stringContaining('no-such'),
        });
      }),
    START_MS,
  );
});

test(
  'ensureTemporal starts one for the namespace of the environment, on disk when asked to',
  () =>
    withTempDir(async (dir) => {
      const { TEMPORAL_ADDRESS: _, ...rest } = process.env;
      const env = { ...rest, TEMPORAL_NAMESPACE: 'mine' };
      const temporal = await ensureTemporal({
        env,
        port: await pickPort(0),
        uiPort: await pickPort(0),
        persistTo: dir,
      });
      const connection = await Connection.connect({ address: temporal.address });
      expect(temporal).toMatchObject({ namespace: 'mine', external: false });
      expect(await customAttributes(connection, 'mine')).toMatchObject({ ItemwiseTenant: 2 });
      expect(await readFile(join(dir, 'temporal.db'))).not.toHaveLength(0);
      await connection.close();
      await temporal.stop();
      await temporal.stop();
      expect(await temporal.exited).toMatchObject({ signal: null });
    }),
  START_MS,
);

test(
  'main starts it alone, prints where it is, and stops it on SIGTERM',
  async () => {
    const { TEMPORAL_ADDRESS: _, ...env } = process.env;
    const [port, uiPort] = [await pickPort(0), await pickPort(0)];
    const flags = ['--', 'main', '--port', String(port), '--ui-port', String(uiPort)];
    const main = spawn(process.execPath, [...nodeArgs('main.ts'), ...flags], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    main.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const closed = once(main, 'close');
    try {
      await until(() => output.includes('Ctrl-C') || main.exitCode !== null, START_MS / 2);
      expect(output).toContain(`Temporal:  127.0.0.1:${port}`);
      expect(output).toContain(`UI:        http://127.0.0.1:${uiPort}`);
      expect((await fetch(`http://127.0.0.1:${uiPort}`)).status).toBe(200);
    } finally {
      main.kill('SIGTERM');
    }
    expect(await closed).toEqual([0, null]);
    expect(output).toContain('Stopped.');
    expect(await pickPort(port)).toBe(port);
  },
  START_MS,
);
