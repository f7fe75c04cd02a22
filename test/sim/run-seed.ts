import type { Bug } from './bug';
import { checkEnd } from './invariants';
import { planOfSeed, type SeedPlan } from './plan';
import { BEGINNING } from './scheduler';
import { Snapshots } from './snapshots';
import { cacheStatements } from './statement-cache';
import type { Violation } from './trace';
import { Users } from './users';
import { World } from './world';

/** After the last fault and the last act of a user, a job ends within this time, ms. */
const PATIENCE_MS = 1_200_000;

/**
 * For each item more, where they run one after the other: a job of 500 has its time-outs too. One that ends its process
 * takes all that run beside it along, ms.
 */
const PER_ITEM_MS = 20_000;

/** What outlives its job has this long to do its worst, ms. */
const AFTERMATH_MS = 45_000;

function patienceOf({ poison, jobs, limits }: SeedPlan): number {
  const rows = jobs.map(({ items, options }) => {
    const atOnce = poison > 0 ? 1 : Math.min(options.concurrency, limits.concurrency ?? 1);
    return items / atOnce;
  });
  return PATIENCE_MS + rows.reduce((sum, row) => sum + row, 0) * PER_ITEM_MS;
}

export interface SeedReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** Of the trace: two runs of one seed have the same. */
  readonly hash: string;
  readonly lines: number;
  readonly trace: readonly string[];
  readonly faults: Readonly<Record<string, number>>;
  /** How much virtual time has passed, ms. */
  readonly tookMs: number;
  /** Jobs by the state that they ended in. */
  readonly states: readonly string[];
}

export interface SeedOptions {
  readonly bug?: Bug;
  /** Keeps the whole trace. */
  readonly traceAll?: boolean;
  /** Another plan than the seed's. */
  readonly change?: (plan: SeedPlan) => SeedPlan;
}

/** Runs the world of a seed from its beginning to its end, and checks what has come of it. */
export async function runSeed(seed: number, { bug, traceAll = false, change }: SeedOptions = {}): Promise<SeedReport> {
  const drawn = planOfSeed(seed);
  const plan = change?.(drawn) ?? drawn;
  cacheStatements();
  const world = new World(plan, bug, traceAll);
  const { scheduler, trace } = world;
  await world.open();
  try {
    const isBroken = (): boolean => trace.violations.length > 0;
    const users = new Users(world);
    const snapshots = new Snapshots(world);
    const lastAct = Math.max(plan.healAt, ...plan.jobs.flatMap((job) => job.acts.map(({ at }) => at)));
    const until = BEGINNING + lastAct + patienceOf(plan);
    const end = await scheduler.run(() => isBroken() || (users.pending === 0 && snapshots.allEnded()), until);
    if (end !== 'over') trace.violate('every job ends', `${end} after ${(scheduler.now() - BEGINNING) / 1_000} s`);
    else await scheduler.run(isBroken, scheduler.now() + AFTERMATH_MS);
    const states = await checkEnd(world, snapshots);
    const tookMs = scheduler.now() - BEGINNING;
    return {
      ...{ seed, violations: trace.violations, lines: trace.lines, trace: trace.tail(), faults: trace.faults },
      ...{ hash: trace.hash(), tookMs, states },
    };
  } finally {
    await world.close();
  }
}
