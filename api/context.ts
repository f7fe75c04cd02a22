import type { JobQueue, Lifecycle } from '../queue';
import type { Runtime } from '../runtime';

/** What the routes stand on. */
export interface ApiContext {
  readonly runtime: Runtime;
  readonly queue: JobQueue;
  readonly lifecycle: Lifecycle;
  /** Until API keys exist there is one tenant and one caller. */
  readonly tenant: string;
  readonly caller: string;
  /** Aborted when the API shuts down: long polls end. */
  readonly closing: AbortSignal;
}
