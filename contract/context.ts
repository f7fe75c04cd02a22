import type { Review } from './review';
import type { OnceOptions, Vendor } from './vendor';
import type { WaitSpec, Waiting } from './wait';
import type { z } from 'zod';

/** One item as a payload sees it: the caller's id and the input, already checked against the payload's schema. */
export interface Item<Input = unknown> {
  readonly id: string;
  readonly input: Input;
}

/** Lines for a person, kept in the worker's log and (bounded) in the job's log. */
export interface PayloadLog {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** What a payload may ask of the runner, whichever way it takes its items. Every verb takes and returns plain data. */
export interface BaseContext<Params = unknown, Config = unknown> {
  /** The job's params, checked against the payload's schema. */
  readonly params: Params;
  /** The payload's settings from the worker's environment; never stored. */
  readonly config: Config;
  /** Aborted when the job is cancelled, the attempt runs out of time, or the worker shuts down. */
  readonly signal: AbortSignal;
  /** Whether the job's cancellation was asked for: the moment to stop between two steps. */
  cancelled(): boolean;
  /** How far a long attempt is; shown with the item while it runs. Costs no I/O of its own. */
  progress(done: number, total?: number, note?: string): void;
  readonly log: PayloadLog;
  /** Makes the answer "a person must look at this". */
  review(reason: string, draft?: unknown): Review;
  /**
   * A vendor whose calls cost something: each is journaled, and made at most once. In `batches(ctx)` a call is one of
   * the batch in hand, which from then on keeps its members.
   */
  vendor(name: string): Vendor;
  /**
   * Runs `effect` once for this item (in `batches(ctx)`: for the batch in hand) and keeps its result, as JSON: a later
   * attempt gets the result and does not run it. An effect whose result was lost, because the worker died, runs again
   * under the same key.
   * @param name tells the effects of an item apart; used once in an attempt.
   */
  once<Result>(name: string, effect: (key: string) => Promise<Result> | Result, options?: OnceOptions): Promise<Result>;
  /** Runs `hook` when the job is cancelled while this attempt runs. Errors of the hook are logged. */
  onCancel(hook: () => void | Promise<void>): void;
  /** Runs `hook` when this attempt ends, however it ends, newest first. Errors of the hook are logged. */
  cleanup(hook: () => void | Promise<void>): void;
}

export interface MeterOptions {
  /**
   * Tells one charge of an item from another: the same key of the same item counts once, however often it runs. Name and
   * key have at most 500 bytes; a longer one is logged and not recorded.
   */
  key: string;
}

/** The Context of `run(item, ctx)` and `resume`. */
export interface Context<
  Input = unknown,
  Params = unknown,
  Config = unknown,
  Waits extends Readonly<Record<string, WaitSpec>> = Readonly<Record<string, WaitSpec>>,
> extends BaseContext<Params, Config> {
  readonly item: Item<Input>;
  /** Makes the answer "start this wait, and go on in `resume` when it is answered". `wait` is one of the payload's `waits`. */
  wait<Name extends keyof Waits & string>(wait: Name, args: z.input<Waits[Name]['args']>): Waiting;
  /** Records that `quantity` of `name` was used for this item. Never throws. */
  meter(name: string, quantity: number, options: MeterOptions): void;
}

/** Items delivered together to `batches(ctx)`. */
export interface Batch<Input = unknown, Result = unknown> {
  readonly items: readonly Item<Input>[];
  /**
   * Records what became of one item: a result, `ctx.review(...)`, or an error (`Reject`, `Defer`, any other is
   * retried). The first call for an item counts. An item not settled when the loop turns is retried.
   */
  settle(item: Item<Input>, answer: Result | Review | Error): void;
}

/** The Context of `batches(ctx)`. */
export interface BatchContext<
  Input = unknown,
  Params = unknown,
  Config = unknown,
  Result = unknown,
> extends BaseContext<Params, Config> {
  /**
   * The unit's items that have no outcome yet, `size` at a time (at most the payload's `limits.batch`). The next turn
   * of the loop persists what the last batch settled: it is the checkpoint. Items that failed before come one by one,
   * so that a bad item fails alone.
   */
  batches(options: { size: number }): AsyncIterable<Batch<Input, Result>>;
  /** Records that `quantity` of `name` was used for `options.item`. Never throws. */
  meter(name: string, quantity: number, options: MeterOptions & { item: Item<Input> }): void;
}
