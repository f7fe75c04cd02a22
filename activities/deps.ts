import type { Payload, Registry } from '../contract';
import type { Store } from '../store';
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
