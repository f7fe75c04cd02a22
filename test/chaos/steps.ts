import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chaos } from './chaos';

/** A step at which a process can be made to die, in the terms of `preload/die-at.js`. */
export interface Step {
  readonly name: string;
  /** A regular expression over the SQL that the store writes. */
  readonly statement: string;
  readonly when: 'before' | 'after' | 'committed';
}

/** A submit, from its first write to the note that its workflow was started. */
export const SUBMIT_STEPS: readonly Step[] = [
  { name: 'before its upload is opened', statement: '^insert into "uploads"', when: 'before' },
  { name: 'its upload is opened, uncommitted', statement: '^insert into "uploads"', when: 'after' },
  { name: 'its upload is opened', statement: '^insert into "uploads"', when: 'committed' },
  { name: 'its items are written, uncommitted', statement: 'insert into items', when: 'after' },
  { name: 'its items are written', statement: 'insert into items', when: 'committed' },
  { name: 'it is being sealed: the upload is taken', statement: '^delete from "uploads"', when: 'after' },
  { name: 'it is being sealed: the job is written', statement: '^insert into "jobs"', when: 'after' },
  { name: 'it is sealed, and not answered', statement: '^insert into "jobs"', when: 'committed' },
  {
    name: 'it is sealed, and its start not noted',
    statement: '^update "jobs" set "workflow_started_at"',
    when: 'before',
  },
  { name: 'its start is noted', statement: '^update "jobs" set "workflow_started_at"', when: 'committed' },
];

/** The end of a job, in the worker. */
export const FINALIZE_STEPS: readonly Step[] = [
  { name: 'before its transaction', statement: '^select "name", sum\\(quantity\\)', when: 'before' },
  { name: 'before the statement is written', statement: '^update "jobs" set .*"statement"', when: 'before' },
  { name: 'the statement is written, uncommitted', statement: '^update "jobs" set .*"statement"', when: 'after' },
  { name: 'the log line is written, uncommitted', statement: '^insert into "job_log".*', when: 'after' },
  { name: 'it is committed, and Temporal not told', statement: '^update "jobs" set .*"statement"', when: 'committed' },
];

/** Has the next process of that kind that comes to the step die there. */
export function arm({ service }: Chaos, process: 'api' | 'worker-process', { statement, when }: Step): void {
  writeFileSync(orderFile(service.folder), JSON.stringify({ process, statement, when }));
}

/** Whether a process has died of the last `arm`. */
export function hasDied({ service }: Chaos): boolean {
  return !existsSync(orderFile(service.folder));
}

function orderFile(folder: string): string {
  return join(folder, 'die-at.json');
}
