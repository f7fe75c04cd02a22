import { encode, isEmpty, union } from '../model/index-set';
import { elsewhere, type Admitted, type Came } from './admitted';
import { attended } from './attend';
import { FULL_MS } from './deps';
import { runItems } from './invoke';
import { takePinned } from './pinned';
import type { Delivery } from './types';
import { UnitRun, type UnitParts } from './unit-run';

/** Items of a batch that another unit has in hand come again after this, ms. */
const TAKEN_HOLD_MS = 1_000;

/** Which items are open: of a cancelled job all that have no outcome. */
const OPEN = { run: 'run', quarantine: 'quarantine', settle: 'all' } as const;

/**
 * Runs what is open of a unit through its payload. In quarantine that is one item at a time, suspects too; to settle a
 * cancelled job, with no new call.
 */
export async function runOpenItems(
  admitted: Admitted,
  delivery: Delivery,
  lane: keyof typeof OPEN,
  parts: Pick<UnitParts, 'announce'> = {},
): Promise<Came> {
  const { deps, job, payload, set, shared, buffer } = admitted;
  const { open, nextDue, elsewhere: others } = await deps.store.openItems(job.no, set, OPEN[lane]);
  const pinned = payload.batches ? await takePinned(deps.store, buffer.fence, open) : { batches: [], open, taken: [] };
  const unit = new UnitRun(deps, {
    ...admitted,
    ...shared,
    ...parts,
    settling: lane === 'settle',
    open: pinned.open,
    pinned: pinned.batches,
  });
  await attended(admitted, unit, delivery, () => runItems(unit));
  const rest = unit.notRun();
  // What a shutdown left of suspects are suspects still.
  const suspects = lane === 'quarantine' ? union(rest, others.quarantine) : others.quarantine;
  return {
    handedBack: lane === 'quarantine' ? '' : encode(union(rest, pinned.taken)),
    ...elsewhere({ check: others.check, quarantine: suspects }),
    nextDue,
    ran: unit.ran,
    ...(unit.full && { fullMs: FULL_MS }),
    ...(!isEmpty(pinned.taken) && { holdMs: TAKEN_HOLD_MS }),
  };
}
