import type { JobRow, OutcomeRow, Snapshots } from '../snapshots';
import { readAll } from '../snapshots';
import type { JobMark } from '../observer';
import type { World } from '../world';
import { checkCalls } from './calls';
import { checkItems } from './items';
import { checkRows } from './rows';
import { checkStatement } from './statement';

export interface JournalRow {
  readonly root_no: number;
  readonly subject: string;
  readonly call: string;
  readonly kind: string;
  readonly key: string;
  readonly state: string;
  readonly result: string | null;
  readonly done_at: number | null;
}

export interface UsageRow {
  readonly job_no: number;
  readonly item_id: string;
  readonly key: string;
  readonly quantity: number;
  readonly at: number;
}

/** A job when its world has ended, as the store has it and as the simulator saw it. */
export interface EndedJob {
  readonly row: JobRow;
  readonly index: number;
  readonly mark: JobMark;
  readonly outcomes: readonly OutcomeRow[];
  readonly journal: readonly JournalRow[];
  readonly usage: readonly UsageRow[];
}

/** Checks what a world has come to; the states that its jobs ended in. */
export async function checkEnd(world: World, snapshots: Snapshots): Promise<string[]> {
  await snapshots.look();
  const rows = await readAll<JobRow>(world, 'select * from jobs order by no');
  if (rows.length > world.plan.jobs.length) world.trace.violate('a submit is one job', `${rows.length} jobs`);
  for (const row of rows) {
    if (row.finished_at === null) continue;
    const job = await load(world, row);
    checkItems(world, job);
    checkStatement(world, job);
    checkCalls(world, job);
    await checkRows(world, job);
  }
  return rows.map((row) => row.state);
}

async function load(world: World, row: JobRow): Promise<EndedJob> {
  const mark = world.observer.jobs.get(row.no)!;
  return {
    row,
    index: mark.index,
    mark,
    outcomes: await readAll<OutcomeRow>(world, 'select * from outcomes where job_no = ? order by idx', row.no),
    journal: await readAll<JournalRow>(world, 'select * from journal where root_no = ?', row.no),
    usage: await readAll<UsageRow>(world, 'select * from usage where job_no = ?', row.no),
  };
}
