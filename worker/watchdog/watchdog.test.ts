import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kept, play, until } from '../fixtures/helpers';
import { HEARTBEAT_MS, type Deed } from '../fixtures/parts/common';
import { WatchedProcess } from '../watched-process';

jest.setTimeout(60_000);

describe('the watchdog', () => {
  const folder = mkdtempSync(join(tmpdir(), 'itemwise-watchdog-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  let process: WatchedProcess | undefined;
  afterEach(() => process?.kill());

  const start = async (deed: Deed): Promise<{ child: WatchedProcess; stderr: Kept }> => {
    const stderr = new Kept();
    let working = false;
    const command = play('worker', join(folder, deed), deed);
    const child = new WatchedProcess(command, { ownGroup: true, stderr, onMessage: () => (working = true) });
    process = child;
    await until(() => working);
    return { child, stderr };
  };

  it('ends a process whose event loop is blocked, and says which items had started', async () => {
    const { child, stderr } = await start('blocks');
    const { signal, why, started } = await child.ended;
    expect(signal).toBe('SIGKILL');
    expect(why.code).toBe('event_loop_blocked');
    expect(why.message).toContain(`blocked for ${HEARTBEAT_MS} ms`);
    expect(started).toEqual([{ jobNo: 7, generation: 1, seq: 2, index: 0 }]);
    const line = stderr.text.split('\n').find((text) => text.includes('the event loop is blocked'));
    expect(JSON.parse(line!)).toMatchObject({ level: 60, items: 1, started: [{ job: 7, unit: 2, index: 0 }] });
  });

  it('leaves one alone that has been stopped for longer than that', async () => {
    const { child } = await start('nothing');
    child.signal('SIGSTOP');
    await sleep(2 * HEARTBEAT_MS);
    child.signal('SIGCONT');
    // As long as it would take to be killed.
    await Promise.race([child.ended, sleep(1.5 * HEARTBEAT_MS)]);
    child.signal('SIGTERM');
    expect(await child.ended).toMatchObject({ code: 0, signal: null });
  });

  it('leaves one alone that computes in steps', async () => {
    const { child, stderr } = await start('computes');
    await Promise.race([child.ended, until(() => stderr.text.includes('computed'))]);
    child.signal('SIGTERM');
    expect(await child.ended).toMatchObject({ code: 0, signal: null });
  });
});
