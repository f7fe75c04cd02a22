import type { Budget } from './attempts';
import type { Tuning } from './unit-size';

/** What a job was promised at submit, pinned with it: later releases of the payload do not change it. */
export interface Plan extends Budget {
  readonly tuning: Tuning;
  readonly itemTimeoutMs: number;
}
