import { earliest } from '../model/backoff';
import { decode, encode, size } from '../model/index-set';
import { unitName } from '../model/names';
import type { CancelWatch } from './cancel-watch';
import type { ActivityDeps } from './deps';
import { runItems } from './invoke';
import type { Settler } from './settler';
import type { Delivery, UnitInput, UnitResult } from './types';
import { UnitBuffer } from './unit-buffer';
import { UnitRun, type Busy } from './unit-run';

/** A worker without the capability asks for this much patience, ms: another one may have it, or get it. */
const NOT_HERE_HOLD_MS = 5_000;

/** The job's row says pause or cancel, and the news is on its way to the queue, ms. */
const NOT_NOW_HOLD_MS = 1_000;

/** Running units are looked after this often, ms: deadlines, budget, shutdown. */
const TICK_MS = 100;

/** What the units of one worker share. */
export interface UnitShared {
  readonly settler: Settler;
  readonly cancelWatch: CancelWatch;
  readonly busy: Busy;
}

/**
 * The one handler that calls a payload: runs the unit's items that have no outcome and are not parked for later, and
 * writes what became of them as it goes. Those rows are the checkpoint; there is no other cursor.
 */
export async function runUnit(
  deps: ActivityDeps,
  shared: UnitShared,
  input: UnitInput,
  delivery: Delivery,
): Promise<UnitResult> {
  // From first to last, so that a unit that waits for its store is not taken for dead.
  const stopBeating = deps.clock.every(deps.settings.heartbeatMs, () => delivery.heartbeat());
  try {
    return await deliver(deps, shared, input, delivery);
  } finally {
    stopBeating();
  }
}

async function deliver(
  deps: ActivityDeps,
  shared: UnitShared,
  input: UnitInput,
  delivery: Delivery,
): Promise<UnitResult> {
  const { store, clock } = deps;
  const startedAt = clock.now();
  const set = decode(input.set);
  const fence = { jobNo: input.jobNo, generation: input.generation, seq: input.seq, delivery: deps.newId() };
  const nothing = { nextDue: null, ran: 0, wallMs: 0 };
  if (deps.draining.aborted) return { ...nothing, handedBack: input.set };

  const unitInfo = { worker: deps.workerId, size: size(set), running: Math.min(input.slots, size(set)) };
  const job = await store.openUnit(fence, unitInfo);
  // Somebody else has the unit: nobody waits for this answer.
  if (!job) return { ...nothing, handedBack: '' };

  const buffer = new UnitBuffer(fence);
  shared.settler.add(buffer);
  try {
    if (job.cancel || job.paused) return await handBack(shared, buffer, input, NOT_NOW_HOLD_MS);
    const payload = deps.registry.get(job.capability);
    if (!payload) {
      deps.log.warn({ job: job.id, capability: job.capability }, 'this worker does not have the capability');
      return await handBack(shared, buffer, input, NOT_HERE_HOLD_MS);
    }
    const { open, nextDue } = await store.openItems(job.no, set);
    const log = withFields(deps.log, { job: job.id, unit: unitName(job.id, input.generation, input.seq) });
    const unit = new UnitRun(deps, job, payload, input.slots, buffer, log, shared.settler, shared.busy, open);
    const release = attend(deps, shared, unit, delivery, startedAt);
    try {
      await runItems(unit);
    } finally {
      release();
    }
    buffer.close();
    await shared.settler.flush();
    if (buffer.failure) throw buffer.failure.error;
    return {
      handedBack: encode(unit.notRun()),
      nextDue: earliest(nextDue, buffer.nextDue),
      ran: unit.ran,
      wallMs: clock.now() - startedAt,
    };
  } finally {
    shared.settler.remove(buffer);
  }
}

/** Nothing is started. The hold keeps a queue that has not heard why from sending the same again at once. */
async function handBack(shared: UnitShared, buffer: UnitBuffer, input: UnitInput, holdMs: number): Promise<UnitResult> {
  buffer.close();
  await shared.settler.flush();
  return { handedBack: input.set, nextDue: null, ran: 0, wallMs: 0, holdMs };
}

/** Looks after a running unit: deadlines, budget, cancel and shutdown. Returns how to stop. */
function attend(
  deps: ActivityDeps,
  shared: UnitShared,
  unit: UnitRun,
  delivery: Delivery,
  startedAt: number,
): () => void {
  const { clock, settings } = deps;
  let askedAt = startedAt;
  let drainingSince: number | null = null;
  const onStop = (): void => void shared.cancelWatch.look();
  delivery.stop.addEventListener('abort', onStop);
  if (delivery.stop.aborted) onStop();
  const unwatch = shared.cancelWatch.watch(unit.job.no, () => unit.halt('cancel', true));
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

function withFields(log: ActivityDeps['log'], fields: object): ActivityDeps['log'] {
  return {
    debug: (more, message) => log.debug({ ...fields, ...more }, message),
    info: (more, message) => log.info({ ...fields, ...more }, message),
    warn: (more, message) => log.warn({ ...fields, ...more }, message),
    error: (more, message) => log.error({ ...fields, ...more }, message),
  };
}
