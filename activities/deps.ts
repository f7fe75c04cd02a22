import type { Payload, Registry } from '../contract';
import type { ErrorInfo } from '../model/error-info';
import type { IndexSet } from '../model/index-set';
import type { Fence, Store } from '../store';
import type { Clock } from './clock';

/** The lines of a structured log, as pino writes them. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** All that the activities stand on; a worker's composition root makes it once. */
export interface ActivityDeps {
  readonly store: Store;
  readonly registry: Registry;
  /** The payload's settings, read from the environment at boot. */
  readonly configOf: (payload: Payload) => unknown;
  readonly clock: Clock;
  /** A seeded source in [0, 1). */
  readonly random: () => number;
  readonly newId: () => string;
  readonly log: Log;
  /** The worker's incarnation. */
  readonly workerId: string;
  /** Aborted when the worker is to shut down: nothing new is started, units are handed back. */
  readonly draining: AbortSignal;
  readonly settings: UnitSettings;
  /** Where it is noted which items have started; absent where nobody would read it. */
  readonly started?: StartedLog;
  /** How suspects are run; absent where they can only be run in this process. */
  readonly quarantine?: Quarantine;
}

/**
 * Says, after this process has died, which items had started in it. Written as items start, so it costs as little as a
 * write into memory that outlives the process.
 */
export interface StartedLog {
  /** A place for what one slot runs. */
  place(): StartedPlace;
}
export interface StartedPlace {
  /** The item starts, or `count` neighbours one after the other; they take the place of what was there before. */
  enter(unit: Pick<Fence, 'jobNo' | 'generation' | 'seq'>, index: number, count?: number): void;
  /** Nothing runs here any more. */
  free(): void;
}

/** Items of a unit to be run one by one in a process of their own. */
export interface QuarantineRequest {
  readonly fence: Fence;
  readonly set: IndexSet;
}

/** What became of suspects, beside what is in the store. */
export interface SuspectsRun {
  readonly ran: number;
  readonly nextDue: number | null;
  /** A ceiling on open waits was met. */
  readonly full: boolean;
}

/** How a quarantine process ended. `died`: while it ran `index`, or null when it ran nothing yet. */
export type QuarantineEnd =
  | ({ readonly is: 'done' } & SuspectsRun)
  | { readonly is: 'died'; readonly index: number | null; readonly why: ErrorInfo };

export interface Quarantine {
  /**
   * Runs the set in a new process, which says which item it starts before it does. Never throws. An aborted `stop` has
   * it hand back what it has not started.
   */
  run(request: QuarantineRequest, stop: AbortSignal): Promise<QuarantineEnd>;
}

export interface UnitSettings {
  /** After this long a unit hands back what it has not started, so that slots turn over, ms. */
  readonly unitBudgetMs: number;
  /** How often a unit says that it is alive, ms; well under the heartbeat time-out. */
  readonly heartbeatMs: number;
  /** How long running items may go on after the worker was told to shut down, ms. */
  readonly shutdownGraceMs: number;
}

/** Longest time between an outcome and the store, ms; most outcomes and bytes that wait for it. */
export const FLUSH = { everyMs: 500, items: 1_000, bytes: 4_000_000 } as const;

/** Largest result or draft of an item, bytes of JSON. */
export const MAX_RESULT_BYTES = 1_000_000;

/** After a time-out or a shutdown was told, the payload has this long to end by itself, ms. */
export const ABANDON_AFTER_MS = 1_000;

/** A payload's cleanup hooks are waited for this long, ms. */
export const CLEANUP_MS = 5_000;

/**
 * A payload that does not react to a cancel has this long to finish, ms; what it comes to counts until then. Together
 * with the rest of a cancel it stays under the 20 s within which every cancel ends.
 */
export const CANCEL_GRACE_MS = 15_000;

/** A paid call under way when the job is cancelled may answer for this long, ms. */
export const CALL_GRACE_MS = 10_000;

/** After as many open waits as may be are met, the unit's items come again no sooner than this, ms. */
export const FULL_MS = 5_000;

/** Longest request to a vendor to stop something, ms: best effort, and nobody waits for ever. */
export const VENDOR_CANCEL_MS = 10_000;

/** A log that says these fields with every line. */
export function withFields(log: Log, fields: object): Log {
  return {
    debug: (more, message) => log.debug({ ...fields, ...more }, message),
    info: (more, message) => log.info({ ...fields, ...more }, message),
    warn: (more, message) => log.warn({ ...fields, ...more }, message),
    error: (more, message) => log.error({ ...fields, ...more }, message),
  };
}
