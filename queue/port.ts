/**
 * The queue as the runner needs it. Two obligations: start a job's pace machine under the job's id, once; and deliver
 * each unit the machine sends at least once, under its deterministic name. Whatever else a queue offers is a backstop.
 * Adapters: `activity` (Temporal) and `in-process` (no server), held to one conformance suite.
 */
import type { Tuning } from '../model/unit-size';

export const QUEUE_KINDS = ['activity', 'in-process'] as const;
export type QueueKind = (typeof QUEUE_KINDS)[number];

export interface JobStart {
  readonly jobId: string;
  readonly jobNo: number;
  readonly generation: number;
  readonly total: number;
  readonly tuning: Tuning;
  readonly itemTimeoutMs: number;
  readonly paused: boolean;
  readonly capability: string;
  readonly tenant: string;
}

export type Notice = 'cancel' | 'pause' | 'resume';

/**
 * What became of a start: `running` also where that cannot be told from being about to run. `terminated`: by a person.
 * `ended`: it completed, failed or timed out, whatever the store says of the job.
 */
export type StartStatus = 'running' | 'missing' | 'ended' | 'terminated';

export interface Inspection {
  readonly status: StartStatus;
  /** Whether what runs has heard that the job is paused; null where that is not known. */
  readonly paused: boolean | null;
}

/** The queue cannot be reached now. Nothing is known to have been done. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';
}

export interface JobQueue {
  readonly kind: QueueKind;
  /** Starts the job's generation; does nothing where it runs already. @throws QueueUnavailable */
  start(job: JobStart): Promise<void>;
  /** Tells a running job; false when it does not run. @throws QueueUnavailable */
  notify(jobId: string, notice: Notice): Promise<boolean>;
  /** @throws QueueUnavailable */
  inspect(jobId: string, generation: number): Promise<Inspection>;
  /** Undefined when the queue is well, else what is wrong. Never throws. */
  ailment(): Promise<string | undefined>;
  /** What does not hold the queue up, and is less than it could be. */
  warnings(): readonly string[];
  /** Where a person looks at the job. */
  url(jobId: string): string | undefined;
  close(): Promise<void>;
}
