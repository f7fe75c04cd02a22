import type { JobRecord } from '../store';
import type { Admitted } from './admitted';
import type { ActivityDeps } from './deps';
import type { StopReason } from './invocation';
import type { Delivery } from './types';
import type { UnitBuffer } from './unit-buffer';

/** Running units are looked after this often, ms: deadlines, budget, shutdown. */
const TICK_MS = 100;

/** A unit that can be told what happens around it. */
export interface Attended {
  readonly job: JobRecord;
  readonly buffer: UnitBuffer;
  /** Nothing new is started; `tellRunning` also stops what runs. */
  halt(why: StopReason, tellRunning: boolean): void;
  /** Hands back what is not started; what runs goes on. */
  spendBudget(): void;
  /** Holds what runs to its deadlines. */
  tick(): void;
}

/** Looks after a running unit: deadlines, budget, cancel and shutdown. Returns how to stop. */
function attend(
  deps: ActivityDeps,
  cancelWatch: Admitted['shared']['cancelWatch'],
  unit: Attended,
  delivery: Delivery,
): () => void {
  const { clock, settings } = deps;
  const startedAt = clock.now();
  let askedAt = startedAt;
  let drainingSince: number | null = null;
  const onStop = (): void => void cancelWatch.look();
  delivery.stop.addEventListener('abort', onStop);
  if (delivery.stop.aborted) onStop();
  const unwatch = cancelWatch.watch(unit.job.no, () => unit.halt('cancel', true));
  const stopTicking = clock.every(TICK_MS, () => {
    const now = clock.now();
    // The queue may have taken the unit for lost and sent its items again.
    if (delivery.stop.aborted && now - askedAt >= settings.heartbeatMs) {
      unit.buffer.ask();
      askedAt = now;
    }
    if (now - startedAt >= settings.unitBudgetMs) unit.spendBudget();
    if (deps.draining.aborted) {
      drainingSince ??= now;
      unit.halt('shutdown', now - drainingSince >= settings.shutdownGraceMs);
    }
    unit.tick();
  });
  return () => {
    stopTicking();
    unwatch();
    delivery.stop.removeEventListener('abort', onStop);
  };
}

/** Runs a unit, and looks after it while it runs. */
export async function attended(
  { deps, shared }: Admitted,
  unit: Attended,
  delivery: Delivery,
  run: () => Promise<void>,
): Promise<void> {
  const release = attend(deps, shared.cancelWatch, unit, delivery);
  try {
    await run();
  } finally {
    release();
  }
}
