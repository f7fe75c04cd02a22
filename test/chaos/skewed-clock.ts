import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeOptions, type Chaos } from './chaos';

/** How a process is given a clock that is wrong. */
export interface SkewedClock {
  readonly how: 'libfaketime' | 'preload';
  /** The environment of a process whose clock is ahead by so many ms, or behind when that is negative. */
  env(ms: number): Record<string, string>;
}

/** With nothing but Node: `Date` is wrong, and native code has the right time. */
export const byPreload: SkewedClock = {
  how: 'preload',
  env: (ms) => ({ ...nodeOptions(['shift-clock']), TEST_CLOCK_SHIFT_MS: String(ms) }),
};

/** Debian's libfaketime, unpacked for the scenario: the whole process has the wrong time. Undefined where there is none. */
export function byFaketime(chaos: Chaos): SkewedClock | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'itemwise-faketime-'));
  chaos.atEnd(() => rmSync(folder, { recursive: true, force: true }));
  try {
    execFileSync('apt-get', ['download', 'libfaketime'], { cwd: folder, stdio: 'ignore' });
    const [archive = ''] = readdirSync(folder);
    execFileSync('dpkg', ['-x', archive, '.'], { cwd: folder, stdio: 'ignore' });
    const library = readdirSync(folder, { recursive: true }).find((file) => String(file).endsWith('/libfaketime.so.1'));
    if (library === undefined) return undefined;
    return {
      how: 'libfaketime',
      env: (ms) => ({
        LD_PRELOAD: join(folder, String(library)),
        FAKETIME: `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1_000}s`,
        // What measures time is right on a machine whose clock is wrong; and so are the times of files.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        NO_FAKE_STAT: '1',
      }),
    };
  } catch {
    return undefined;
  }
}
