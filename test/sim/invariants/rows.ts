import { readAll } from '../snapshots';
import type { World } from '../world';
import type { EndedJob } from '.';

/** What a job that has ended leaves behind: nothing that somebody would still have to work on. */
export async function checkRows(world: World, job: EndedJob): Promise<void> {
  await checkNoWork(world, job);
  // That is what finalize is there for, but where nothing fails there is nothing to be found.
  const { finalize_rounds: rounds, cancel_at } = job.row;
  if (world.plan.calm && cancel_at === null && rounds > 0) {
    world.trace.violate(
      'no item is lost from sight',
      `${rounds} rounds of ${job.row.id} found items without an outcome`,
    );
  }
}

async function checkNoWork(world: World, { row }: EndedJob): Promise<void> {
  for (const table of ['units', 'parked', 'waits']) {
    const [{ left } = { left: 0 }] = await readAll<{ left: number }>(
      world,
      `select count(*) as left from ${table} where job_no = ?`,
      row.no,
    );
    if (left > 0) world.trace.violate('an ended job leaves no work behind', `${left} rows of ${row.id} in ${table}`);
  }
}
