import { earliest } from '../model/backoff';
import { decode, encode, size } from '../model/index-set';
import { unitName } from '../model/names';
import type { Lane } from '../model/pace';
import { elsewhere, type Admitted, type Came, type UnitShared } from './admitted';
import { attended } from './attend';
import { CheckRun } from './check-run';
import { FULL_MS, withFields, type ActivityDeps } from './deps';
import { runOpenItems } from './open-run';
import { QuarantineRun } from './quarantine';
import type { Delivery, UnitInput, UnitResult } from './types';
import { UnitBuffer } from './unit-buffer';

/** A worker without the capability asks for this much patience, ms: another one may have it, or get it. */
const NOT_HERE_HOLD_MS = 5_000;

/** The job's row says pause or cancel, and the news is on its way to the queue, ms. */
const NOT_NOW_HOLD_MS = 1_000;

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
  const startedAt = deps.clock.now();
  try {
    const came = await deliver(deps, shared, input, delivery);
    return { ...came, wallMs: deps.clock.now() - startedAt };
  } finally {
    stopBeating();
  }
}

async function deliver(deps: ActivityDeps, shared: UnitShared, input: UnitInput, delivery: Delivery): Promise<Came> {
  const { lane = 'run' } = input;
  const set = decode(input.set);
  const fence = { jobNo: input.jobNo, generation: input.generation, seq: input.seq, delivery: deps.newId() };
  if (deps.draining.aborted) return allBack(lane, input.set);

  const worker = { worker: deps.workerId, size: size(set), running: Math.min(input.slots, size(set)) };
  const job = await deps.store.openUnit(fence, worker);
  if (!job) throw new Superseded(input);

  const buffer = new UnitBuffer(fence);
  shared.settler.add(buffer);
  try {
    const payload = deps.registry.get(job.capability);
    let came: Came;
    if (job.cancel || job.paused) came = { ...allBack(lane, input.set), holdMs: NOT_NOW_HOLD_MS };
    else if (!payload) {
      deps.log.warn({ job: job.id, capability: job.capability }, 'this worker does not have the capability');
      came = { ...allBack(lane, input.set), holdMs: NOT_HERE_HOLD_MS };
    } else {
      const log = withFields(deps.log, { job: job.id, unit: unitName(job.id, input.generation, input.seq) });
      const admitted = { deps, shared, job, payload, set, slots: input.slots, buffer, log };
      came = await LANES[lane](admitted, delivery);
    }
    buffer.close();
    await shared.settler.flush();
    if (buffer.failure) throw buffer.failure.error;
    if (buffer.refused) throw new Superseded(input);
    return { ...came, nextDue: earliest(came.nextDue, buffer.nextDue) };
  } finally {
    shared.settler.remove(buffer);
  }
}

/**
 * Somebody else has the unit, or had it. What became of it is not for this delivery to say, should somebody still wait
 * for its answer: the unit counts as lost, which closes it for everybody, and the store knows what of it is open.
 */
class Superseded extends Error {
  override readonly name = 'Superseded';

  constructor({ jobId, generation, seq }: UnitInput) {
    super(`another delivery has taken over ${unitName(jobId, generation, seq)}`);
  }
}

const LANES: Readonly<Record<Lane, (unit: Admitted, delivery: Delivery) => Promise<Came>>> = {
  run: (admitted, delivery) => runOpenItems(admitted, delivery, 'run'),
  check: async (admitted, delivery) => {
    const { waits, nextDue } = await admitted.deps.store.openWaits(admitted.job.no, admitted.set);
    const unit = new CheckRun(admitted, waits);
    await attended(admitted, unit, delivery, () => unit.run());
    return { handedBack: encode(unit.answered), ...elsewhere({ check: unit.unchecked }), nextDue, ran: unit.checked };
  },
  // Where there is no process to run them in, they run here, still one by one.
  quarantine: (admitted, delivery) =>
    admitted.deps.quarantine ? runInQuarantine(admitted, delivery) : runOpenItems(admitted, delivery, 'quarantine'),
};

async function runInQuarantine(admitted: Admitted, delivery: Delivery): Promise<Came> {
  const unit = new QuarantineRun(admitted);
  await attended(admitted, unit, delivery, () => unit.run());
  return {
    handedBack: '',
    ...elsewhere({ check: unit.checks, quarantine: unit.rest }),
    nextDue: unit.nextDue,
    ran: unit.ran,
    ...(unit.full && { fullMs: FULL_MS }),
    ...(unit.isBroken && { holdMs: NOT_HERE_HOLD_MS }),
  };
}

/** Nothing is started: all of it is to be sent again, in its lane. */
function allBack(lane: Lane, set: string): Came {
  const back = { nextDue: null, ran: 0 };
  return lane === 'run' ? { ...back, handedBack: set } : { ...back, handedBack: '', [lane]: set };
}
