/** The watchdog. All that it does is synchronous: what a thread does otherwise goes through the event loop it watches. */
import { workerData } from 'node:worker_threads';
import { createLogger } from '../../runtime/logger';
import { eventLoopBlocked } from '../death';
import { readStarted } from '../started-log';
import { startedFile, writeReason } from '../traces';
import type { WatchdogData } from './index';
import { TICKS, TurnCount } from './turn-count';

const { turns, limitMs, traces, logLevel } = workerData as WatchdogData;
const count = new TurnCount();
const log = createLogger('watchdog', logLevel);

/** More of them say nothing more to a person. */
const NAMED = 100;

setInterval(() => {
  if (count.isBlockedAt(Atomics.load(turns, 0))) end();
}, limitMs / TICKS);

function end(): void {
  writeReason(traces, eventLoopBlocked(limitMs));
  try {
    log.fatal(
      { blockedMs: limitMs, ...startedItems() },
      'the event loop is blocked: this process ends, with the items that it had started',
    );
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}

function startedItems(): object {
  try {
    const items = readStarted(startedFile(traces));
    return {
      items: items.length,
      started: items.slice(0, NAMED).map(({ jobNo, seq, index }) => ({ job: jobNo, unit: seq, index })),
    };
  } catch {
    // A process that keeps no such file.
    return {};
  }
}
