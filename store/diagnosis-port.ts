/** The part of the store port for whoever has to find out what a job waits for. */
import type { ParkKind } from '../model/attempts';
import type { JobRecord } from './port';

/** A delivery of a unit that a worker has in hand. */
export interface OpenUnit {
  readonly worker: string;
  readonly items: number;
  readonly running: number;
  readonly openedAt: number;
}

/** An item that has run for a while, by its id. */
export interface RunningItem {
  readonly itemId: string;
  readonly startedAt: number;
  readonly worker: string;
}

/** Items that are parked for one reason. */
export interface ParkedReason {
  readonly kind: ParkKind;
  /** Code of the error; empty where there is none, as for a wait. */
  readonly code: string;
  /** What the error of the first of them begins with; empty where there is none. */
  readonly message: string;
  readonly count: number;
  /** When the first of them is due. */
  readonly due: number;
}

/** What is known of why a job is not further. Bounded, however large the job is. */
export interface Diagnosis {
  /** Since when the job is in its state. */
  readonly stateSince: number;
  readonly units: readonly OpenUnit[];
  /** Those that have run for longest, the longest first. */
  readonly slowest: readonly RunningItem[];
  readonly parked: {
    readonly total: number;
    readonly nextDue: number | null;
    /** Reasons of the items that are due next, the commonest first. */
    readonly reasons: readonly ParkedReason[];
    /** Of how many items that is. */
    readonly lookedAt: number;
  };
}

/** A job that could not be closed, and what it lacks. */
export interface StuckJob {
  readonly job: JobRecord;
  readonly missing: number;
  /** Ids of the first of the missing items. */
  readonly items: readonly string[];
}

export interface Diagnose {
  diagnose(job: JobRecord): Promise<Diagnosis>;
  stuckJobs(limit: number): Promise<StuckJob[]>;
}
