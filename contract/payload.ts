import { z } from 'zod';
import type { BatchContext, Context, Item } from './context';
import { toMs, type Duration } from './duration';
import type { Review } from './review';
import type { Wait, WaitSpec, Waiting } from './wait';

/** What a payload may set; each has a default in `DEFAULT_LIMITS`. */
export interface PayloadLimits {
  /** Longest attempt of one item, or of one batch. Default 30 s. */
  itemTimeout?: Duration;
  /** Attempts an item gets before it fails; a job may ask for fewer. Default 3. */
  maxAttempts?: number;
  /** Items of one job in flight at once. Default 50; a job may ask for fewer. */
  concurrency?: number;
  /** Largest batch that `ctx.batches` forms. Default 50. */
  batch?: number;
  /** Most items delivered together as one unit. Default 1,000. */
  unit?: { max?: number };
  /** Delay before another attempt: flat up to three attempts, then doubling with full jitter up to `max`. Default 1 s, 5 min. */
  backoff?: { initial?: Duration; max?: Duration };
  /** How often and how long an item may be deferred before it fails with `deferral_limit`. Default 1,000 times, 24 h. */
  deferral?: { max?: number; maxTime?: Duration };
}

/** Limits with every default filled in; durations in milliseconds. */
export interface ResolvedLimits {
  readonly itemTimeoutMs: number;
  readonly maxAttempts: number;
  readonly concurrency: number;
  readonly batch: number;
  readonly unitMax: number;
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
  readonly deferral: { readonly max: number; readonly maxTimeMs: number };
}

export const DEFAULT_LIMITS: ResolvedLimits = Object.freeze({
  itemTimeoutMs: 30_000,
  maxAttempts: 3,
  concurrency: 50,
  batch: 50,
  unitMax: 1_000,
  backoff: { initialMs: 1_000, maxMs: 300_000 },
  deferral: { max: 1_000, maxTimeMs: 86_400_000 },
});

interface PayloadBase<I extends z.ZodType, P extends z.ZodType, C extends z.ZodType, R extends z.ZodType> {
  /** Lower-case words joined by dots, such as `page.fetch`. */
  name: string;
  /** A positive integer; another version is another payload, both served side by side. */
  version: number;
  /** One sentence for the manifest. */
  description?: string;
  /** The domain words that must not occur in the runner; a test greps for them. */
  vocabulary: readonly string[];
  input: I;
  params?: P;
  /**
   * Settings read from the worker's environment at boot, never stored. Key `baseUrl` of `page.fetch` is read from
   * `PAGE_FETCH_BASE_URL`; values arrive as text, so coerce what is not text.
   */
  config?: C;
  result: R;
  limits?: PayloadLimits;
}

export type Waits = Readonly<Record<string, WaitSpec>>;
type Answer<R extends z.ZodType> = Promise<z.input<R> | Review | Waiting> | z.input<R> | Review | Waiting;

/** A payload that takes one item at a time. */
export interface RunPayload<
  I extends z.ZodType,
  P extends z.ZodType,
  C extends z.ZodType,
  R extends z.ZodType,
  W extends Waits = Waits,
> extends PayloadBase<I, P, C, R> {
  /** Returns the result, `ctx.review(...)` or `ctx.wait(...)`; throws `Reject`, `Defer`, or anything else to be retried. */
  run(item: Item<z.output<I>>, ctx: Context<z.output<I>, z.output<P>, z.output<C>, W>): Answer<R>;
  /** What its items may wait for, by name. */
  waits?: W;
  /** What follows the answer of each wait; answers like `run`. A retry of it gets the same answer. */
  resume?: {
    readonly [Name in keyof W]: (
      item: Item<z.output<I>>,
      ctx: Context<z.output<I>, z.output<P>, z.output<C>, W>,
      answer: z.output<W[Name]['answer']>,
    ) => Answer<R>;
  };
  batches?: never;
}

/** A payload that takes items in batches. */
export interface BatchesPayload<
  I extends z.ZodType,
  P extends z.ZodType,
  C extends z.ZodType,
  R extends z.ZodType,
> extends PayloadBase<I, P, C, R> {
  /** Loops over `ctx.batches({ size })` and settles each item. */
  batches(ctx: BatchContext<z.output<I>, z.output<P>, z.output<C>, z.input<R>>): Promise<void>;
  run?: never;
  waits?: never;
  resume?: never;
}

export type PayloadSpec<
  I extends z.ZodType = z.ZodType,
  P extends z.ZodType = z.ZodType,
  C extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  W extends Waits = Waits,
> = RunPayload<I, P, C, R, W> | BatchesPayload<I, P, C, R>;

const PAYLOAD_BRAND = Symbol.for('itemwise.payload');

/** A capability as the runner holds it: what `definePayload` returns. */
export interface Payload {
  readonly [PAYLOAD_BRAND]: true;
  readonly name: string;
  readonly version: number;
  /** `name@version`: what a job pins. */
  readonly capability: string;
  readonly description: string;
  readonly vocabulary: readonly string[];
  readonly input: z.ZodType;
  readonly params: z.ZodType;
  readonly config: z.ZodType;
  readonly result: z.ZodType;
  readonly limits: ResolvedLimits;
  /** By name; empty for a payload that waits for nothing. */
  readonly waits: ReadonlyMap<string, Wait>;
  readonly run?: (item: Item, ctx: Context) => unknown;
  /** Goes on with an item whose wait was answered. */
  readonly resume?: (wait: string, item: Item, ctx: Context, answer: unknown) => unknown;
  readonly batches?: (ctx: BatchContext) => Promise<void>;
}

const NAME = /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$/;

const wholeNumber = (what: string, least: number, most: number): z.ZodNumber =>
  z
    .number()
    .int(`${what} is not a whole number`)
    .min(least, `${what} is under ${least}`)
    .max(most, `${what} is over ${most}`);

const limitsSchema = z.object({
  itemTimeoutMs: wholeNumber('limits.itemTimeout', 1, 3_600_000),
  maxAttempts: wholeNumber('limits.maxAttempts', 1, 100),
  concurrency: wholeNumber('limits.concurrency', 1, 1_000),
  batch: wholeNumber('limits.batch', 1, 1_000),
  unitMax: wholeNumber('limits.unit.max', 1, 1_000),
  backoff: z.object({
    initialMs: wholeNumber('limits.backoff.initial', 1, 86_400_000),
    maxMs: wholeNumber('limits.backoff.max', 1, 86_400_000),
  }),
  deferral: z.object({
    max: wholeNumber('limits.deferral.max', 1, 1_000_000),
    maxTimeMs: wholeNumber('limits.deferral.maxTime', 1, 30 * 86_400_000),
  }),
});

function resolveLimits(limits: PayloadLimits): ResolvedLimits {
  const duration = (value: Duration | undefined, fallback: number): number =>
    value === undefined ? fallback : toMs(value);
  const defaults = DEFAULT_LIMITS;
  const initialMs = duration(limits.backoff?.initial, defaults.backoff.initialMs);
  return limitsSchema.parse({
    itemTimeoutMs: duration(limits.itemTimeout, defaults.itemTimeoutMs),
    maxAttempts: limits.maxAttempts ?? defaults.maxAttempts,
    concurrency: limits.concurrency ?? defaults.concurrency,
    batch: limits.batch ?? defaults.batch,
    unitMax: limits.unit?.max ?? defaults.unitMax,
    backoff: { initialMs, maxMs: Math.max(initialMs, duration(limits.backoff?.max, defaults.backoff.maxMs)) },
    deferral: {
      max: limits.deferral?.max ?? defaults.deferral.max,
      maxTimeMs: duration(limits.deferral?.maxTime, defaults.deferral.maxTimeMs),
    },
  });
}

const waitLimits = z.object({
  every: z.object({
    initialMs: wholeNumber('every', 1, 86_400_000),
    maxMs: wholeNumber('every.max', 1, 86_400_000),
  }),
  maxWaitMs: wholeNumber('maxWait', 1, 90 * 86_400_000),
  maxOpen: wholeNumber('maxOpen', 1, 1_000_000).nullable(),
  tolerate: wholeNumber('tolerate', 0, 1_000),
  checkBatch: wholeNumber('checkBatch', 1, 1_000),
});

function resolveWaits(
  specs: Waits,
  resume: Readonly<Record<string, unknown>>,
  fail: (why: string) => never,
): ReadonlyMap<string, Wait> {
  const stray = Object.keys(resume).find((name) => !Object.hasOwn(specs, name));
  if (stray !== undefined) fail(`resume.${stray} belongs to no wait`);
  const waits = new Map<string, Wait>();
  for (const [name, spec] of Object.entries(specs)) {
    if (typeof resume[name] !== 'function') fail(`the wait ${name} needs a resume.${name}`);
    const { every = '30s', maxWait = '24h', maxOpen = null, tolerate = 10, checkBatch = 100 } = spec;
    const { initial, max } = typeof every === 'object' ? every : { initial: every, max: every };
    try {
      const limits = waitLimits.parse({
        every: { initialMs: toMs(initial), maxMs: Math.max(toMs(initial), toMs(max)) },
        maxWaitMs: toMs(maxWait),
        maxOpen,
        tolerate,
        checkBatch,
      });
      waits.set(name, Object.freeze({ name, spec, ...limits }));
    } catch (error) {
      fail(
        `the wait ${name}: ${error instanceof z.ZodError ? error.issues.map((issue) => issue.message).join('; ') : String(error)}`,
      );
    }
  }
  return waits;
}

function resumer(resume: object): (wait: string, item: Item, ctx: Context, answer: unknown) => unknown {
  return (wait, ...args) => (resume as Record<string, (...args: unknown[]) => unknown>)[wait]!(...args);
}

/**
 * Declares a capability.
 * @throws TypeError when the name, the version, the limits or the handler are not as documented.
 */
export function definePayload<
  I extends z.ZodType,
  R extends z.ZodType,
  P extends z.ZodType = z.ZodObject<Record<never, never>>,
  C extends z.ZodType = z.ZodObject<Record<never, never>>,
  W extends Waits = Record<never, never>,
>(spec: PayloadSpec<I, P, C, R, W>): Payload {
  const fail = (why: string): never => {
    throw new TypeError(`payload ${JSON.stringify(spec.name)}: ${why}`);
  };
  if (!NAME.test(spec.name)) fail('a name is lower-case words joined by dots, such as page.fetch');
  if (!Number.isInteger(spec.version) || spec.version < 1) fail('a version is a positive whole number');
  if ((spec.run === undefined) === (spec.batches === undefined)) fail('give it either run or batches');
  let limits: ResolvedLimits;
  try {
    limits = resolveLimits(spec.limits ?? {});
  } catch (error) {
    return fail(error instanceof z.ZodError ? error.issues.map((issue) => issue.message).join('; ') : String(error));
  }
  const waits = resolveWaits(spec.waits ?? {}, spec.resume ?? {}, fail);
  return Object.freeze({
    [PAYLOAD_BRAND]: true as const,
    name: spec.name,
    version: spec.version,
    capability: `${spec.name}@${spec.version}`,
    description: spec.description ?? '',
    vocabulary: spec.vocabulary,
    input: spec.input,
    params: spec.params ?? z.strictObject({}),
    config: spec.config ?? z.object({}),
    result: spec.result,
    limits,
    waits,
    // The runner checks input, params and config against the schemas before it calls; only here is the type erased.
    ...(spec.run && { run: spec.run.bind(spec) as unknown as (item: Item, ctx: Context) => unknown }),
    ...(spec.resume && { resume: resumer(spec.resume) }),
    ...(spec.batches && { batches: spec.batches.bind(spec) as unknown as (ctx: BatchContext) => Promise<void> }),
  });
}

/** Whether a value came out of `definePayload`, also that of another copy of this package. */
export function isPayload(value: unknown): value is Payload {
  return (
    typeof value === 'object' && value !== null && (value as { [PAYLOAD_BRAND]?: unknown })[PAYLOAD_BRAND] === true
  );
}
