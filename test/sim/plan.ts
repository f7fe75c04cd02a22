import type { PayloadLimits } from '../../contract';
import { Rng } from './random';

/** How likely each fault is: of a transaction, a delivery or a request as the name says; times between are means, ms. */
export interface FaultProfile {
  /** A transaction fails before it begins, or its answer is lost, or it is slow. */
  readonly txAway: number;
  readonly txAnswerLost: number;
  readonly txSlow: number;
  /** The process dies just before, or just after, a transaction. */
  readonly crashBefore: number;
  readonly crashAfter: number;
  /** Time between crashes, freezes and orderly shutdowns of workers; Infinity where there are none. */
  readonly crashEvery: number;
  readonly freezeEvery: number;
  readonly drainEvery: number;
  readonly paceCrashEvery: number;
  readonly apiCrashEvery: number;
  /** The store is away for everybody for a while. */
  readonly outageEvery: number;
  /** A delivery never arrives, arrives twice, is answered late, or its answer is lost. */
  readonly dropped: number;
  readonly doubled: number;
  readonly answerLate: number;
  readonly answerLost: number;
  /** A request to the queue fails, before or after it had its effect. */
  readonly queueAway: number;
  /** A dead worker's supervisor says what had started in it. */
  readonly supervised: number;
}

export type UserAct = 'pause' | 'resume' | 'cancel' | 'terminate';

export interface JobPlan {
  readonly kind: 'run' | 'batch';
  readonly items: number;
  readonly submitAt: number;
  readonly options: { readonly concurrency: number; readonly maxAttempts: number };
  readonly acts: readonly { readonly at: number; readonly act: UserAct }[];
}

/** All that is fixed about a world before it begins. Times are ms from the beginning. */
export interface SeedPlan {
  readonly seed: number;
  readonly calm: boolean;
  readonly workers: number;
  /** When the last fault is over. */
  readonly healAt: number;
  readonly faults: FaultProfile;
  readonly limits: PayloadLimits;
  readonly maxOpen: number | undefined;
  /** How often payloads and vendors misbehave, 0..1. */
  readonly mischief: number;
  readonly poison: number;
  readonly jobs: readonly JobPlan[];
}

const NO_FAULTS: FaultProfile = {
  txAway: 0,
  txAnswerLost: 0,
  txSlow: 0,
  crashBefore: 0,
  crashAfter: 0,
  crashEvery: Infinity,
  freezeEvery: Infinity,
  drainEvery: Infinity,
  paceCrashEvery: Infinity,
  apiCrashEvery: Infinity,
  outageEvery: Infinity,
  dropped: 0,
  doubled: 0,
  answerLate: 0,
  answerLost: 0,
  queueAway: 0,
  supervised: 0,
};

export function planOfSeed(seed: number): SeedPlan {
  const rng = new Rng(`seed ${seed}`).fork('plan');
  const calm = rng.chance(0.15);
  const healAt = rng.int(20_000, 150_000);
  const faults = calm ? NO_FAULTS : drawFaults(rng);
  return {
    seed,
    calm,
    workers: rng.int(1, 3),
    healAt,
    faults,
    limits: drawLimits(rng),
    maxOpen: rng.chance(0.3) ? rng.int(1, 8) : undefined,
    mischief: rng.pick([0, 0.2, 0.5, 0.8]),
    // An item that ends its process is found out where suspects have a process of their own.
    poison: faults.supervised > 0 && rng.chance(0.2) ? rng.next() * 0.1 : 0,
    jobs: Array.from({ length: rng.chance(0.2) ? 2 : 1 }, () => drawJob(rng, healAt)),
  };
}

/** Each kind of fault is there in a part of the seeds only: what always comes together hides what comes alone. */
function drawFaults(rng: Rng): FaultProfile {
  const part = (most: number): number => (rng.chance(0.4) ? most * rng.next() : 0);
  const every = (least: number, most: number): number => (rng.chance(0.35) ? rng.int(least, most) : Infinity);
  return {
    txAway: part(0.05),
    txAnswerLost: part(0.03),
    txSlow: part(0.1),
    crashBefore: part(0.01),
    crashAfter: part(0.01),
    crashEvery: every(5_000, 60_000),
    freezeEvery: every(5_000, 60_000),
    drainEvery: every(10_000, 60_000),
    paceCrashEvery: every(10_000, 60_000),
    apiCrashEvery: every(10_000, 60_000),
    outageEvery: every(10_000, 60_000),
    dropped: part(0.15),
    doubled: part(0.15),
    answerLate: part(0.3),
    answerLost: part(0.15),
    queueAway: part(0.3),
    supervised: rng.pick([0, 0.5, 1]),
  };
}

function drawLimits(rng: Rng): PayloadLimits {
  const unitMax = rng.weighted({ few: 3, some: 4, many: 2 });
  return {
    itemTimeout: rng.pick([500, 2_000, 5_000, 20_000]),
    maxAttempts: rng.int(1, 5),
    concurrency: rng.pick([1, 3, 10, 50]),
    batch: rng.int(1, 8),
    unit: { max: { few: rng.int(1, 3), some: rng.int(4, 20), many: 1_000 }[unitMax] },
    backoff: { initial: rng.pick([100, 1_000, 3_000]), max: rng.pick([3_000, 30_000]) },
    deferral: { max: rng.int(2, 6), maxTime: rng.pick([20_000, 600_000]) },
  };
}

function drawJob(rng: Rng, healAt: number): JobPlan {
  const size = rng.weighted({ small: 50, middle: 45, large: 1 });
  const submitAt = rng.int(0, 2_000);
  return {
    kind: rng.chance(0.3) ? 'batch' : 'run',
    items: { small: rng.int(1, 12), middle: rng.int(13, 60), large: 500 }[size],
    submitAt,
    options: { concurrency: rng.pick([1, 4, 20, 50]), maxAttempts: rng.int(1, 5) },
    acts: drawActs(rng, submitAt, healAt),
  };
}

/** Whatever is paused is resumed by the end: a job that a person has put aside does not end. */
function drawActs(rng: Rng, submitAt: number, healAt: number): JobPlan['acts'] {
  const acts: { at: number; act: UserAct }[] = [];
  // Most of what happens to a job happens early in it.
  const sometime = (): number => submitAt + (rng.chance(0.6) ? rng.int(0, 10_000) : rng.int(0, healAt));
  for (let pauses = rng.weighted({ 0: 65, 1: 25, 2: 10 }) as unknown as number; pauses > 0; pauses--) {
    const at = sometime();
    acts.push({ at, act: 'pause' }, { at: at + rng.int(10, 40_000), act: 'resume' });
  }
  if (rng.chance(0.4)) {
    const at = sometime();
    acts.push({ at, act: 'cancel' });
    if (rng.chance(0.3)) acts.push({ at: at + rng.int(0, 20_000), act: 'cancel' });
  }
  if (rng.chance(0.04)) acts.push({ at: sometime(), act: 'terminate' });
  acts.push({ at: Math.max(healAt, ...acts.map((act) => act.at)) + 1_000, act: 'resume' });
  return acts.sort((a, b) => a.at - b.at);
}
