import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Temporal } from '../../temporal-dev';
import { FakeClock } from '../fixtures/shell';
import { launch } from './announced';
import { formatLogLine } from './log-line';
import { startDev, type Dev, type DevOptions } from './start-dev';

const MAIN = join(__dirname, 'fixtures', 'main.js');
const DATA = join(tmpdir(), 'itemwise-dev-test');

interface Entry {
  who: string;
  msg: string;
  pid: number;
  [field: string]: unknown;
}

/** Everything that was said, in order, and a way to wait for it. */
class Notes {
  readonly said: string[] = [];
  readonly entries: Entry[] = [];
  private waiting: (() => void)[] = [];

  readonly say = (line: string): void => {
    this.said.push(line);
    this.wake();
  };

  readonly log = (who: string, line: string): void => {
    if (line.startsWith('{')) this.entries.push({ ...(JSON.parse(line) as Entry), who });
    this.wake();
  };

  async until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** Sleeps are over at once, but for the limit of the start, which is over when a problem was found if `limited`. */
class ShortClock extends FakeClock {
  constructor(private readonly limited = false) {
    super();
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms < 60_000) return super.sleep(Math.min(ms, 1));
    if (this.limited) while (this.now() < 20) await super.sleep(1);
    else await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
  }
}

function fakeTemporal(record: Notes): { ensureTemporal: () => Promise<Temporal>; end: () => void; asked: object[] } {
  let end = (): void => undefined;
  const asked: object[] = [];
  const exited = new Promise<{ code: number; signal: null }>(
    (resolve) => (end = () => resolve({ code: 9, signal: null })),
  );
  const temporal: Temporal = {
    address: '127.0.0.1:7',
    uiUrl: 'http://127.0.0.1:8',
    namespace: 'n',
    external: false,
    stop: async () => record.say('temporal stopped'),
    exited,
  };
  const ensureTemporal = async (options?: object): Promise<Temporal> => {
    asked.push(options ?? {});
    return temporal;
  };
  return { ensureTemporal, end: () => end(), asked };
}

let dev: Dev | undefined;
afterEach(async () => {
  await dev?.stop();
  dev = undefined;
});

interface Started {
  record: Notes;
  temporal: ReturnType<typeof fakeTemporal>;
  start: Promise<Dev>;
}

function begin(fake = '', more: Partial<DevOptions> = {}): Started {
  const record = new Notes();
  const temporal = fakeTemporal(record);
  const env = { PATH: process.env['PATH'], FAKE: fake, ...more.env };
  const { say, log } = record;
  const { ensureTemporal } = temporal;
  const given = { port: '0', data: DATA, main: MAIN, clock: new ShortClock() };
  const start = startDev({ ...given, say, log, ensureTemporal, ...more, env }).then((up) => (dev = up));
  return { record, temporal, start };
}

describe('startDev', () => {
  test('is up when the API is ready and the worker works', async () => {
    const { record, temporal, start } = begin('', { payloads: 'own.ts' });
    const { api, temporalUi } = await start;
    expect(api).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(temporalUi).toBe('http://127.0.0.1:8');
    expect(temporal.asked).toMatchObject([{ persistTo: join(DATA, 'temporal.db') }]);
    const started = record.entries.filter((entry) => entry.msg === 'started');
    expect(started.map((entry) => entry.who).sort()).toEqual(['api', 'worker']);
    for (const entry of started) {
      expect(entry).toMatchObject({
        ITEMWISE_DATA: DATA,
        ITEMWISE_PORT: '0',
        ITEMWISE_PAYLOADS: join(process.cwd(), 'own.ts'),
        TEMPORAL_ADDRESS: '127.0.0.1:7',
        TEMPORAL_NAMESPACE: 'n',
        TEMPORAL_UI_URL: 'http://127.0.0.1:8',
      });
    }
  });

  test('stops the worker and the API in order, then Temporal', async () => {
    const { record, start } = begin();
    const { stop, done } = await start;
    await stop();
    await done;
    expect(record.entries.filter((entry) => entry.msg === 'stopped')).toHaveLength(2);
    expect(record.said.at(-1)).toBe('temporal stopped');
  });

  test('Temporal keeps nothing when it is not to', async () => {
    const { temporal, start } = begin('', { persist: false });
    await start;
    expect(temporal.asked[0]).not.toHaveProperty('persistTo');
  });

  test('with the in-process queue there is only the API', async () => {
    const { record, temporal, start } = begin('', { env: { ITEMWISE_QUEUE: 'in-process' } });
    expect((await start).temporalUi).toBeUndefined();
    expect(temporal.asked).toEqual([]);
    expect(record.entries.map((entry) => entry.who)).toEqual(['api']);
  });

  test.each([
    ['api', 'the API', 'worker'],
    ['worker', 'the worker', 'api'],
  ])('%s that dies ends it all', async (who, name, other) => {
    const { record, start } = begin();
    const { done } = await start;
    process.kill(record.entries.find((entry) => entry.who === who)?.pid as number, 'SIGKILL');
    await expect(done).rejects.toThrow(`${name} ended by itself (SIGKILL)`);
    expect(record.entries).toContainEqual(expect.objectContaining({ who: other, msg: 'stopped' }));
    expect(record.said.at(-1)).toBe('temporal stopped');
  });

  test('at once: the worker is told so, to take its own child with it', async () => {
    const { record, start } = begin('worker-stubborn');
    const { kill } = await start;
    kill();
    await record.until(() => record.entries.find((entry) => entry.msg === 'ended at once'));
    expect(record.entries.filter((entry) => entry.msg === 'stopped')).toEqual([]);
  });

  test('a Temporal that dies ends it all', async () => {
    const { temporal, start } = begin();
    const { done } = await start;
    temporal.end();
    await expect(done).rejects.toThrow('Temporal ended by itself (exit code 9)');
  });

  test.each([
    ['api-dies', 'the API ended before it was ready (exit code 3):\n'],
    ['worker-dies', 'the worker ended before it worked (exit code 3):\n'],
  ])('%s while it starts: why is told, and nothing is left', async (fake, message) => {
    const { record, start } = begin(fake);
    await expect(start).rejects.toThrow(message);
    await expect(start).rejects.toThrow('why it died');
    expect(record.said.at(-1)).toBe('temporal stopped');
  });

  test('an API that is not ready in time: what is wrong is told', async () => {
    const { start } = begin('never-ready', { clock: new ShortClock(true) });
    await expect(start).rejects.toThrow(/^not ready within 1 min 0 s: /);
  });

  test('a port that is taken is told before anything is started', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { temporal, start } = begin('', { port: String(port) });
    await expect(start).rejects.toThrow(`port ${port} of 127.0.0.1 is taken; --port 0 takes a free one`);
    expect(temporal.asked).toEqual([]);
    server.close();
  });

  test('a mistake in the settings too', async () => {
    const { temporal, start } = begin('', { port: 'x' });
    await expect(start).rejects.toMatchObject({ name: 'ConfigError' });
    expect(temporal.asked).toEqual([]);
  });
});

describe('a child', () => {
  test('that does not end when it is told is killed', async () => {
    const record = new Notes();
    const child = launch({
      args: [MAIN, 'worker'],
      env: { FAKE: 'worker-stubborn' },
      onLine: (line) => record.log('worker', line),
    });
    expect(await child.announced).toEqual({ working: 'a-queue' });
    expect(await child.stop(100)).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

describe('log lines', () => {
  test('of pino are laid out', () => {
    const line = JSON.stringify({
      level: 40,
      time: 0,
      pid: 1,
      name: 'api',
      msg: 'm',
      job: 'j',
      n: 1,
      err: { message: 'e' },
    });
    expect(formatLogLine('api', line)).toMatch(/^api {4}\d\d:\d\d:\d\d warn {2}m job=j n=1 err=e$/);
  });

  test('of a supervisor tell in one line that the worker died', () => {
    const line = JSON.stringify({
      level: 50,
      time: 0,
      pid: 1,
      name: 'supervisor',
      why: 'exited',
      code: 3,
      signal: null,
      started: 2,
      msg: 'the worker died and is started again: its process ended',
    });
    expect(formatLogLine('worker', line)).toMatch(
      /^worker \d\d:\d\d:\d\d error the worker died and is started again: its process ended why=exited code=3 signal=null started=2$/,
    );
  });

  test('others stay as they are', () => {
    expect(formatLogLine('worker', 'plain {text}')).toBe('worker plain {text}');
    expect(formatLogLine('worker', '{broken')).toBe('worker {broken');
  });
});
