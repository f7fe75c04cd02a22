import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SkippingLoop } from '../test/support/skipping-loop';
import { slowVendor } from '../test/support/slow-vendor';

export interface WaitsRow {
  readonly queue: string;
  readonly items: number;
  readonly checks: number;
  readonly seconds: number;
  readonly checksPerSecond: number;
  readonly unitsOfChecks: number;
  readonly largestStateBytes: number;
  readonly hoursSkipped: number;
}

/** `items` wait and are checked `checks` times each, every 30 s of a clock that is skipped. */
export async function waitInProcess(items: number, checks: number): Promise<WaitsRow> {
  const folder = mkdtempSync(join(tmpdir(), 'itemwise-bench-'));
  const vendor = slowVendor({ answersAfter: checks, every: 30_000 });
  const loop = await SkippingLoop.open(vendor.payload, join(folder, 'waits.db'));
  try {
    const startedAt = performance.now();
    const job = await loop.run(items);
    const seconds = (performance.now() - startedAt) / 1_000;
    if (job.outcomes.succeeded !== items) throw new Error(`the job ended as ${JSON.stringify(job.outcomes)}`);
    if (vendor.starts.length !== items || vendor.runs !== items) throw new Error('something was started twice');
    return {
      queue: 'in-process',
      items,
      checks,
      seconds: Math.round(seconds * 10) / 10,
      checksPerSecond: Math.round((items * checks) / seconds),
      unitsOfChecks: loop.units['check'] ?? 0,
      largestStateBytes: loop.largestState,
      hoursSkipped: Math.round(loop.skippedMs / 36_000) / 100,
    };
  } finally {
    await loop.store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
