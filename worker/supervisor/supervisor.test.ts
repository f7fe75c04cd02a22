import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorInfo, StartedItem } from '../../store';
import { isRunning, Kept, keptLog, play, until } from '../fixtures/helpers';
import type { SupervisorClock } from './clock';
import { Supervisor, type SupervisorEnd } from './supervisor';
import { Suspects } from './suspects';

jest.setTimeout(60_000);

/** Delays are noted, and over at once; what runs takes as long as it is said to. */
class QuickClock implements SupervisorClock {
  readonly slept: number[] = [];
  private time = 0;

  constructor(private readonly lifeMs = 0) {}

  now(): number {
    return (this.time += this.lifeMs);
  }

  async sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

class Rig {
  readonly folder = mkdtempSync(join(tmpdir(), 'itemwise-supervisor-'));
  readonly working: { taskQueue: string; pid: number }[] = [];
  readonly reported: { items: readonly StartedItem[]; why: ErrorInfo }[] = [];
  readonly stderr = new Kept();
  readonly kept = keptLog();
  readonly supervisor: Supervisor;
  end: SupervisorEnd | undefined;
  readonly ran: Promise<SupervisorEnd>;

  constructor(deeds: string[], clock = new QuickClock()) {
    const { log } = this.kept;
    const openStore = async () => ({
      suspect: async (items: readonly StartedItem[], why: ErrorInfo) => this.reported.push({ items, why }),
      close: async () => undefined,
    });
    this.supervisor = new Supervisor({
      command: play('worker', join(this.folder, 'starts'), ...deeds),
      suspects: new Suspects({ openStore, log, clock }),
      log,
      clock,
      stderr: this.stderr,
      onWorking: (working) => this.working.push(working),
    });
    this.ran = this.supervisor.run().then((end) => (this.end = end));
  }

  untilWorking(n: number): Promise<unknown> {
    return until(() => this.working.length >= n || this.end);
  }

  async stop(): Promise<void> {
    if (!this.end) this.supervisor.kill();
    await this.ran;
    rmSync(this.folder, { recursive: true });
  }
}

describe('the supervisor', () => {
  let rig: Rig;
  afterEach(() => rig.stop());

  it('stops its worker in order, and has ended then', async () => {
    rig = new Rig(['nothing']);
    await rig.untilWorking(1);
    expect(rig.working[0]!.taskQueue).toBe('a-queue');
    rig.supervisor.stop();
    expect(await rig.ran).toEqual({ is: 'stopped' });
    expect(isRunning(rig.working[0]!.pid)).toBe(false);
    expect(rig.reported).toEqual([]);
  });

  it.each([
    ['exits', 'exited'],
    ['exits with 0', 'exited'],
    ['is killed', 'killed'],
    ['has no memory', 'out_of_memory'],
    ['rejects', 'unhandled_rejection'],
    ['throws', 'uncaught_exception'],
    ['blocks', 'event_loop_blocked'],
  ])('a worker that %s: what had started in it is told (%s), and it is started again', async (deed, code) => {
    rig = new Rig([deed, 'nothing']);
    await rig.untilWorking(2);
    await until(() => rig.reported.length > 0);
    expect(rig.reported).toMatchObject([{ items: [{ jobNo: 7, generation: 1, seq: 2, index: 0 }], why: { code } }]);
    expect(rig.kept.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        why: code,
        message: expect.stringMatching(/^the worker died and is started again: ./),
      }),
    );
    expect(rig.working[1]!.pid).not.toBe(rig.working[0]!.pid);
  });

  it('waits longer each time that a worker dies soon', async () => {
    const clock = new QuickClock();
    rig = new Rig([...Array<string>(7).fill('is killed'), 'nothing'], clock);
    await rig.untilWorking(8);
    expect(clock.slept.filter((ms) => ms <= 10_000)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  it('and not when it has lived for a while', async () => {
    const clock = new QuickClock(10_000);
    rig = new Rig(['is killed', 'is killed', 'is killed', 'nothing'], clock);
    await rig.untilWorking(4);
    expect(clock.slept).toEqual([500, 500, 500]);
  });

  it('ends when its first worker takes no work, with what that has said', async () => {
    rig = new Rig(['ends early']);
    expect(await rig.ran).toMatchObject({ is: 'failed', worked: false, last: { code: 2 } });
    expect(rig.stderr.text).toContain('why it ended');
  });

  it('goes on when a later one takes no work', async () => {
    rig = new Rig(['is killed', 'ends early', 'ends early', 'nothing']);
    await rig.untilWorking(2);
    expect(rig.working).toHaveLength(2);
  });

  it('stops between two workers at once', async () => {
    rig = new Rig(['is killed']);
    await until(() => rig.kept.lines.length > 0);
    rig.supervisor.stop();
    expect(await rig.ran).toMatchObject({ is: 'stopped' });
  });

  it('ends a worker at once that does not stop, with what it has started', async () => {
    rig = new Rig(['is deaf']);
    await rig.untilWorking(1);
    const { pid } = rig.working[0]!;
    rig.supervisor.stop();
    rig.supervisor.kill();
    await until(() => !isRunning(pid));
    expect(await rig.ran).toMatchObject({ is: 'failed', worked: true, last: { signal: 'SIGKILL' } });
  });

  it('leaves no folder behind', async () => {
    rig = new Rig(['is killed', 'exits', 'nothing']);
    await rig.untilWorking(3);
    rig.supervisor.stop();
    await rig.ran;
    const folders = [...rig.stderr.text.matchAll(/traces in (.+)\n/g)].map(([, folder]) => folder!);
    expect(new Set(folders).size).toBe(3);
    expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
  });
});
