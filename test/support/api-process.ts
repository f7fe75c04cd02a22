/**
 * An API as a process of its own, which a test starts with `startApiProcess`: no worker and no queue behind it, so that
 * jobs are as the test writes them into the store. Asked over IPC, it says what memory it holds.
 */
import { spawn } from 'node:child_process';
import { startApi } from '../../api';
import { databaseFile, loadConfig } from '../../config';
import { createRegistry } from '../../contract';
import type { JobQueue } from '../../queue';
import { createLogger } from '../../runtime';
import { openStore } from '../../store';

/** After a garbage collection, bytes. */
export interface Memory {
  /** What the process has of the system; freed memory goes back late. */
  readonly resident: number;
  /** What is in use: objects, strings and buffers. */
  readonly live: number;
}

export interface ApiProcess {
  readonly url: string;
  memory(): Promise<Memory>;
  kill(): void;
}

/** @param dataDir folder of the store. */
export async function startApiProcess(dataDir: string): Promise<ApiProcess> {
  const code = `require(${JSON.stringify(require.resolve('jiti'))}).createJiti(${JSON.stringify(__filename)})(${JSON.stringify(__filename)}).main()`;
  const child = spawn(process.execPath, ['--expose-gc', '-e', code], {
    env: { ...process.env, ITEMWISE_DATA: dataDir, ITEMWISE_PORT: '0', ITEMWISE_QUEUE: 'in-process' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const onExit = (status: number | null): void => reject(new Error(`the API ended with ${status}`));
      child.once('exit', onExit);
      child.once('message', (message) => {
        child.off('exit', onExit);
        resolve(message as T);
      });
    });
  const url = await next<string>();
  return {
    url,
    memory: () => {
      child.send('memory');
      return next<Memory>();
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

const nobody: JobQueue = {
  kind: 'in-process',
  start: () => Promise.resolve(),
  notify: () => Promise.resolve(true),
  inspect: () => Promise.resolve({ status: 'running', paused: null }),
  ailment: () => Promise.resolve(undefined),
  warnings: () => [],
  url: () => undefined,
  close: () => Promise.resolve(),
};

/** The process itself; it ends with the one that started it. */
export async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const store = await openStore({ file: databaseFile(config), patienceMs: 10_000 });
  const log = createLogger('api', 'error');
  const api = await startApi({ config, store, registry: createRegistry([]), log, incarnation: 'api' }, nobody);
  process.on('message', () => {
    globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    const memory: Memory = { resident: rss, live: heapUsed + external };
    process.send!(memory);
  });
  process.on('disconnect', () => process.exit());
  process.send!(api.url);
}
