import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QuarantineEnd } from '../../activities/deps';
import { isRunning, Kept, play, until } from '../fixtures/helpers';
import { HEARTBEAT_MS } from '../fixtures/parts/common';
import { WatchedProcess, type NodeCommand } from '../watched-process';
import { QuarantineProcess } from './quarantine-process';

jest.setTimeout(60_000);

const REQUEST = { fence: { jobNo: 1, generation: 1, seq: 1, delivery: 'd' }, set: [0, 3] };

describe('a quarantine process', () => {
  const traces = mkdtempSync(join(tmpdir(), 'itemwise-quarantine-'));
  afterAll(() => rmSync(traces, { recursive: true }));
  let stderr: Kept;
  beforeEach(() => (stderr = new Kept()));
  afterEach(() => until(() => readdirSync(traces).length === 0));

  const quarantine = (command: NodeCommand): QuarantineProcess =>
    new QuarantineProcess({
      command,
      stderr,
      traces,
      heartbeatTimeoutMs: HEARTBEAT_MS,
      shutdownGraceMs: 0,
    });
  const run = (args: string[], stop = new AbortController().signal): Promise<QuarantineEnd> =>
    quarantine(play('quarantine', ...args)).run(REQUEST, stop);
  const untilItem1 = (): Promise<number> =>
    until(() => Number(/item 1 runs in (\d+)\n/.exec(stderr.text)?.[1] ?? 0) || undefined);

  it('runs what it is given', async () => {
    expect(await run([])).toEqual({ is: 'done', ran: 3, nextDue: 5, full: false });
  });

  it.each([
    ['exits', 'exited', 'exit code 3'],
    ['exits with 0', 'exited', 'exit code 0'],
    ['is killed', 'killed', 'SIGKILL'],
    ['has no memory', 'out_of_memory', 'heap limit'],
    ['rejects', 'unhandled_rejection', 'nobody waits'],
    ['throws', 'uncaught_exception', 'nobody catches'],
    ['blocks', 'event_loop_blocked', 'was blocked'],
    ['is stopped', 'event_loop_blocked', 'was blocked'],
  ])('that %s: the item and the reason are known', async (deed, code, message) => {
    const why = { code, message: expect.stringContaining(message) };
    expect(await run([deed])).toEqual({ is: 'died', index: 1, why: expect.objectContaining(why) });
  });

  it.each(['exits', 'is killed', 'rejects'])('that %s before it has begun: no item has done it', async (deed) => {
    expect(await run([deed, 'at once'])).toMatchObject({ is: 'died', index: null });
  });

  it('that cannot run: nor has an item', async () => {
    expect(await run(['fails'])).toMatchObject({ is: 'died', index: null, why: { message: 'the store is away' } });
  });

  it('that cannot be started: nor then', async () => {
    const end = await quarantine({ file: '/no/such/file.js', args: [] }).run(REQUEST, new AbortController().signal);
    expect(end).toMatchObject({ is: 'died', index: null, why: { code: 'exited' } });
  });

  it('is not started where nothing is to be run any more', async () => {
    expect(await run(['blocks'], AbortSignal.abort())).toEqual({ is: 'done', ran: 0, nextDue: null, full: false });
    expect(stderr.text).toBe('');
  });

  it('starts nothing more when it is told to stop', async () => {
    const stop = new AbortController();
    const ran = run(['waits'], stop.signal);
    await untilItem1();
    stop.abort();
    expect(await ran).toEqual({ is: 'done', ran: 2, nextDue: 5, full: false });
  });

  it('is killed when it does not end then, and no item has done it', async () => {
    const stop = new AbortController();
    const ran = run(['is deaf'], stop.signal);
    const pid = await untilItem1();
    stop.abort();
    expect(await ran).toMatchObject({ is: 'died', index: null, why: { code: 'stopped' } });
    expect(isRunning(pid)).toBe(false);
  });

  it.each(['waits', 'blocks'])('that %s ends when its worker has died', async (deed) => {
    const worker = new WatchedProcess(play('quarantine-parent', deed), {
      ownGroup: false,
      stderr,
      onMessage: () => undefined,
    });
    const pid = await untilItem1();
    worker.kill();
    await until(() => !isRunning(pid));
    await worker.ended;
  });
});
