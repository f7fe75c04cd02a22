import type { JobRef } from '../activities/types';
import type { EncodedState } from '../model/pace';
import type { JobState } from '../model/states';
import type { Tuning } from '../model/unit-size';

/** Times that the workflow hands to Temporal, ms. Fixed at start, so that a replay sees the same. */
export interface WorkflowTimings {
  /** A unit whose worker is silent this long is lost. */
  readonly heartbeatTimeoutMs: number;
  /** Longest unit: its budget, one item's time-out and a grace, computed by `startToCloseMs`. */
  readonly startToCloseMs: number;
}

/** Input of the job workflow. */
export interface JobWorkflowInput {
  readonly job: JobRef;
  readonly capability: string;
  readonly tenant: string;
  readonly total: number;
  readonly tuning: Tuning;
  readonly paused: boolean;
  readonly timings: WorkflowTimings;
  /** Whether the server has the search attributes. */
  readonly searchAttributes: boolean;
  /** Roll over at this many events, where that is before the server suggests it. */
  readonly rolloverEvents: number | null;
  /** Where the last run left off; absent on the first. */
  readonly state?: EncodedState;
}

export interface JobWorkflowResult {
  readonly state: JobState;
}

export const JOB_WORKFLOW = 'itemwiseJob';

export const SIGNALS = { cancel: 'itemwise.cancel', pause: 'itemwise.pause', resume: 'itemwise.resume' } as const;
