import type { EncodedElsewhere as Elsewhere, EncodedEnd, Lane } from '../model/pace';
import type { JobState } from '../model/states';

/** Names a job and the start of its workflow that is speaking. */
export interface JobRef {
  readonly jobId: string;
  readonly jobNo: number;
  readonly generation: number;
}

/** One delivery of a unit. Index sets travel encoded, see `model/index-set`. */
export interface UnitInput extends JobRef {
  readonly seq: number;
  readonly set: string;
  /** Items that it may have in flight at once. */
  readonly slots: number;
  /** Absent for `run`. */
  readonly lane?: Exclude<Lane, 'run'>;
}

/** What a unit answers, its sets encoded; it does not throw for anything a payload does. */
export type UnitResult = EncodedEnd;

/** How the queue delivers a unit to run-unit: a way to say "alive", and to hear "stop". */
export interface Delivery {
  heartbeat(): void;
  /** Aborted when the queue wants the unit back; run-unit then looks at the job's row. */
  readonly stop: AbortSignal;
}

/** The activities as their callers see them. */
export interface Activities {
  runUnit(input: UnitInput, delivery: Delivery): Promise<UnitResult>;
  /** Where a later generation begins. */
  begin(ref: JobRef): Promise<{ cursor: number; nextDue: number | null; paused: boolean; cancel: boolean }>;
  claimDue(
    ref: JobRef & { exclude: string; limit: number; without?: 'run' },
  ): Promise<Elsewhere & { set: string; more: boolean; nextDue: number | null }>;
  recover(ref: JobRef & { seq: number; set: string }): Promise<Elsewhere & { open: string; nextDue: number | null }>;
  /** Writes the cancel row, if nobody has. */
  recordCancel(ref: JobRef & { by: string }): Promise<void>;
  /** Finds out what became of paid calls under way, tells vendors to stop, and ends every open item of a cancelled job. */
  settle(ref: JobRef): Promise<{ skipped: number }>;
  finalize(ref: JobRef & { round: number }): Promise<{ state: JobState } | { missing: string; nextDue: number | null }>;
}
