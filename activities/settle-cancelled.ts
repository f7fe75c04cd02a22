import type { Payload } from '../contract';
import { size } from '../model/index-set';
import type { JobRecord } from '../store';
import type { UnitShared } from './admitted';
import type { ActivityDeps } from './deps';
import { runOpenItems } from './open-run';
import type { JobRef } from './types';
import { UnitBuffer } from './unit-buffer';
import { cancelAtVendor, chunksOf, forEachChunk } from './vendor-requests';

/** Units have numbers from 1 on; this one is the job's own. */
const SETTLE_SEQ = 0;

/** Waits read at a time. */
const PAGE = 1_000;

/**
 * Ends what a cancelled job has open, once nothing of it is in flight: finds out what became of paid calls whose answer
 * was lost, tells vendors to stop what is waited for, and gives every item that is left its outcome.
 */
export async function settleCancelled(
  deps: ActivityDeps,
  shared: UnitShared,
  { jobNo, generation }: JobRef,
): Promise<{ skipped: number }> {
  const job = await deps.store.jobByNo(jobNo);
  if (!job) throw new Error(`there is no job number ${jobNo}`);
  const payload = deps.registry.get(job.capability);
  if (payload) {
    await reconcileOpenCalls(deps, shared, job, payload, generation);
    if (payload.waits.size > 0) await cancelOpenWaits(deps, job, payload);
  } else {
    deps.log.warn({ job: job.id, capability: job.capability }, 'cannot ask vendors about a job of another worker');
  }
  const { skipped } = await deps.store.endCancelled(jobNo);
  return { skipped };
}

/**
 * Runs the payload again where a call is open: what the journal has is answered from it, the open call is reconciled,
 * and no new one is made. An item that comes to its end that way has its real outcome.
 */
async function reconcileOpenCalls(
  deps: ActivityDeps,
  shared: UnitShared,
  job: JobRecord,
  payload: Payload,
  generation: number,
): Promise<void> {
  let before = Infinity;
  for (let set = await deps.store.openIntents(job.no); size(set) > 0 && size(set) < before;) {
    before = size(set);
    const slots = Math.min(job.plan.tuning.window, before);
    const fence = { jobNo: job.no, generation, seq: SETTLE_SEQ, delivery: deps.newId() };
    if (!(await deps.store.openUnit(fence, { worker: deps.workerId, size: before, running: slots }))) return;
    const buffer = new UnitBuffer(fence);
    shared.settler.add(buffer);
    try {
      const admitted = {
        deps,
        shared: { ...shared, cancelWatch: DEAF },
        job,
        payload,
        set,
        slots,
        buffer,
        log: deps.log,
      };
      const delivery = { heartbeat: () => undefined, stop: new AbortController().signal };
      await runOpenItems(admitted, delivery, 'settle');
      await shared.settler.flush();
    } finally {
      shared.settler.remove(buffer);
    }
    set = await deps.store.openIntents(job.no);
  }
}

/** That the job is cancelled is why its calls are looked into. */
const DEAF = { watch: () => () => undefined, look: () => Promise.resolve() };

async function cancelOpenWaits(deps: ActivityDeps, job: JobRecord, payload: Payload): Promise<void> {
  const asker = { deps, job, payload, log: deps.log };
  for (let after = -1; ;) {
    const page = await deps.store.openWaitsOf(job.no, { after, limit: PAGE });
    if (page.length === 0) return;
    after = page[page.length - 1]!.index;
    const chunks = chunksOf(payload, page);
    let sent = 0;
    let failed = 0;
    await forEachChunk(
      () => chunks.shift(),
      async (wait, waits) => {
        const cancels = await cancelAtVendor(asker, wait, waits);
        sent += cancels.sent;
        failed += cancels.failed;
      },
    );
    if (sent > 0) await deps.store.noteVendorCancels(job.no, sent, failed);
  }
}
