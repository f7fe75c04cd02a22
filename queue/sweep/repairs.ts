import type { JobRecord } from '../../store';
import type { Lifecycle } from '../lifecycle';

/**
 * What the sweep repairs: a sealed job that nobody started, one whose workflow is gone, one whose workflow a person
 * terminated, a cancelled one that nobody was left to close. Broken uploads are not told from what is left of deleted
 * jobs, and are not counted.
 */
export const REPAIRS = ['unstarted', 'workflow_gone', 'terminated', 'cancel_unheard'] as const;
export type Repair = (typeof REPAIRS)[number];

/** The name of the store's counter of it. */
export function repairCounter(kind: Repair): string {
  return `sweep:${kind}`;
}

/** Counts a repair, and notes it in the job's log. */
export async function noteRepair({ store }: Lifecycle, job: JobRecord, kind: Repair, message: string): Promise<void> {
  await store.appendLog(job.no, { level: 'warn', source: 'runner', message });
  await store.count(repairCounter(kind), 1);
}
