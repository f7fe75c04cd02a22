/** The part of the store port for those who look on: gauges and counters, and the news of jobs that are watched. */
import type { ParkKind } from '../model/attempts';
import type { JobState } from '../model/states';
import type { ItemCounts } from './port';

/** How the whole store is, at one time. */
export interface Gauges {
  /** Jobs that there are, by state. */
  readonly jobs: Readonly<Record<JobState, number>>;
  /** Items of the jobs that have not ended. */
  readonly items: ItemCounts;
  /** Units that workers have open. */
  readonly units: number;
  /** Open jobs that could not be closed: items were sent again, twice, and still have no outcome. */
  readonly stuckJobs: number;
  /** When the open job that has been silent for longest was last heard of, ms since the epoch; null without one. */
  readonly silentSince: number | null;
  readonly parked: readonly ParkedGauge[];
}

/** How many items of open jobs are parked for one reason. */
export interface ParkedGauge {
  readonly kind: ParkKind;
  /** Code of the error; empty for those that wait for an answer. */
  readonly code: string;
  /** Exact while few are parked. Of many, the sum of all is exact, and its parts are estimated from a sample. */
  readonly count: number;
}

/** What tells whether a job has news, without the cost of counting its items. */
export interface JobGlance {
  readonly no: number;
  readonly state: JobState;
  /** Another one when a unit of it has reported, and when its row or its log was written. */
  readonly stamp: string;
  /** The number of its newest log line; 0 without one. */
  readonly newestLine: number;
}

export interface Observe {
  gauges(): Promise<Gauges>;
  /** Adds to a counter that all processes share; there are few names. */
  count(name: string, by: number): Promise<void>;
  counters(): Promise<Readonly<Record<string, number>>>;
  /** One read for however many jobs; those that are gone are left out. */
  glance(nos: readonly number[]): Promise<JobGlance[]>;
}
