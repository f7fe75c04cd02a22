import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Chaos } from './chaos';
import type { StoreFault } from './store-faults';

const SIZE_MB = 24;

/** A file system of its own that can be filled up. */
export interface SmallDisk {
  readonly folder: string;
  readonly fill: StoreFault;
}

/** A tmpfs that goes with the scenario; undefined where this user may not mount one. */
export async function smallDisk(chaos: Chaos): Promise<SmallDisk | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'itemwise-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  chaos.atEnd(() => {
    // Lazily: a worker that was killed a moment ago may not be gone yet.
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => {
      fillUp(filler);
      return () => rmSync(filler);
    },
  };
}

/** Writes until nothing more fits, the last in single bytes. */
function fillUp(file: string): void {
  const fd = openSync(file, 'w');
  for (let size = 1 << 20; size >= 1; size = size >> 4) {
    const chunk = Buffer.alloc(size);
    try {
      for (;;) if (writeSync(fd, chunk) < size) break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  closeSync(fd);
}
