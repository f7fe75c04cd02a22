import type { Fence } from '../port';
import type { Database } from './dialect';

/** Whether the delivery is still the one that the unit belongs to, in an open job's current generation. */
export async function passesFence(trx: Database, fence: Fence): Promise<boolean> {
  const row = await trx
    .selectFrom('units')
    .innerJoin('jobs', 'jobs.no', 'units.job_no')
    .select('units.seq')
    .where('units.job_no', '=', fence.jobNo)
    .where('units.generation', '=', fence.generation)
    .where('units.seq', '=', fence.seq)
    .where('units.delivery', '=', fence.delivery)
    .where('units.closed', '=', 0)
    .where('jobs.generation', '=', fence.generation)
    .where('jobs.finished_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}
