import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** How often it is looked at, ms. */
const LOOK_MS = 250;

/** A process of the product stays under this whatever the size of a job, MB; one that held it all would not. */
const MOST_MB = 600;

/** Watches how much memory processes have, by name; a pid may change. Only where there is /proc. */
export class MemoryWatch {
  private readonly most = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly processes: Readonly<Record<string, () => number>>) {
    this.timer = setInterval(() => this.look(), LOOK_MS);
  }

  private look(): void {
    for (const [name, pid] of Object.entries(this.processes)) {
      this.most.set(name, Math.max(this.most.get(name) ?? 0, residentMb(pid())));
    }
  }

  stop(): void {
    clearInterval(this.timer);
  }

  assertFlat(): void {
    for (const [name, mb] of this.most) assert(mb <= MOST_MB, `${name} had ${mb} MB`);
  }

  figures(): string {
    return [...this.most].map(([name, mb]) => `${name} at most ${mb} MB`).join(', ');
  }
}

/** 0 when it cannot be told: the process is being started again, or the system has no /proc. */
function residentMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
  } catch {
    return 0;
  }
}
