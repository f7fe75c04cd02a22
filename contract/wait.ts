import type { z } from 'zod';
import type { PayloadLog } from './context';
import type { Duration } from './duration';
import type { CallInfo, Reconciled } from './vendor';

/** What a start and a check may use beside their arguments. */
export interface WaitContext<Params = unknown, Config = unknown> {
  readonly params: Params;
  readonly config: Config;
  readonly log: PayloadLog;
}
export interface CheckContext<Params = unknown, Config = unknown> extends WaitContext<Params, Config> {
  readonly signal: AbortSignal;
}

/** What the vendor says of one remote id. `expired`: it knew it once, and there will be no answer. */
export type Checked<Answer = unknown> =
  | { readonly state: 'pending' }
  | { readonly state: 'ready'; readonly answer: Answer }
  | { readonly state: 'expired'; readonly reason?: string };

/**
 * Something slow at a vendor that an item waits for: started once, asked about by its remote id, many at once and on
 * any worker, while no slot is held.
 */
export interface WaitSpec<A extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  /** What `ctx.wait` is given. */
  readonly args: A;
  /** What `check` answers with, and `resume` is given. */
  readonly answer: R;
  /** Starts it and returns its remote id: a paid call, journaled like those of `ctx.vendor(name).call`. */
  start(args: z.output<A>, call: CallInfo, ctx: WaitContext): Promise<string> | string;
  /** See `CallOptions`; the result is the remote id. */
  reconcile?(args: z.output<A>, call: CallInfo, ctx: WaitContext): Promise<Reconciled<string>> | Reconciled<string>;
  /** See `CallOptions`. */
  readonly idempotent?: boolean;
  /** Asks about many remote ids at once. An id without an entry in the answer is one the vendor does not know. */
  check(
    remoteIds: readonly string[],
    ctx: CheckContext,
  ): Promise<Readonly<Record<string, Checked<z.input<R>>>>> | Readonly<Record<string, Checked<z.input<R>>>>;
  /** Asks the vendor to stop, when the job is cancelled or the wait was too long. Best effort. */
  cancel?(remoteIds: readonly string[], ctx: CheckContext): Promise<void> | void;
  /** Time between checks: flat, or growing by half from `initial` up to `max`. Default 30 s. */
  readonly every?: Duration | { readonly initial: Duration; readonly max: Duration };
  /** Longest wait from its start, in wall time; then the item fails with `wait_timeout`. Default 24 h. */
  readonly maxWait?: Duration;
  /** Most waits of this kind open at once, over all jobs of the capability. Default: no ceiling. */
  readonly maxOpen?: number;
  /** Failed checks in a row, or checks in a row that do not know the remote id, before the item fails. Default 10. */
  readonly tolerate?: number;
  /** Most remote ids in one check. Default 100. */
  readonly checkBatch?: number;
}

/** A wait with its defaults filled in; durations in ms. */
export interface Wait {
  readonly name: string;
  readonly spec: WaitSpec;
  readonly every: { readonly initialMs: number; readonly maxMs: number };
  readonly maxWaitMs: number;
  readonly maxOpen: number | null;
  readonly tolerate: number;
  readonly checkBatch: number;
}

/** Declares a wait; its only purpose is that `check`, `start` and `resume` get the types of the schemas. */
export function defineWait<A extends z.ZodType, R extends z.ZodType>(spec: WaitSpec<A, R>): WaitSpec<A, R> {
  return spec;
}

const BRAND = Symbol.for('itemwise.waiting');

/** "Start this and come back with the answer": what `ctx.wait` makes and `run` or `resume` returns. */
export interface Waiting {
  readonly [BRAND]: true;
  readonly wait: string;
  readonly args: unknown;
}

export function waiting(wait: string, args: unknown): Waiting {
  return { [BRAND]: true, wait, args };
}

/** Whether a payload's answer is a wait, also one made by another copy of this package. */
export function isWaiting(value: unknown): value is Waiting {
  return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
}
