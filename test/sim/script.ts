import type { SeedPlan } from './plan';
import { Rng } from './random';

/** What a payload may declare of a call. `plain`: neither is it idempotent nor can the vendor be asked. */
export type CallMode = 'plain' | 'reconcile' | 'idempotent' | 'both';

/** How the vendor takes one sending of a call. */
export type Manner =
  'ok' | 'slow' | 'declined' | 'rejected' | 'deferred' | 'error' | 'booked_lost' | 'hang_booked' | 'hang';

export interface CallPlan {
  readonly name: string;
  readonly mode: CallMode;
  /** The payload goes on when the call has failed. */
  readonly swallowed: boolean;
  /** Waits for the answer whatever its signal says. */
  readonly deaf: boolean;
}

export type Step =
  | { readonly do: 'sleep'; readonly ms: number; readonly deaf: boolean }
  | { readonly do: 'meter'; readonly key: string; readonly quantity: number }
  | { readonly do: 'call'; readonly call: CallPlan }
  | { readonly do: 'once'; readonly name: string; readonly ms: number }
  | { readonly do: 'say' }
  | { readonly do: 'die' };

export type EndingKind =
  'return' | 'throw' | 'reject' | 'defer' | 'review' | 'wait' | 'hang' | 'hang_deaf' | 'misfit' | 'leave';

export interface AttemptPlan {
  readonly steps: readonly Step[];
  readonly ending: EndingKind;
  /** Of a deferral. */
  readonly ms: number;
}

/** How a vendor answers a wait. */
export interface WaitPlan {
  readonly fate: 'ready' | 'expired' | 'silent' | 'forgotten';
  /** Time from its start to its fate. */
  readonly ms: number;
}

/** What the items of a job do, by seed: the same whoever runs them and when. */
export class Script {
  constructor(
    private readonly plan: SeedPlan,
    private readonly job: number,
  ) {}

  private rng(...path: readonly (string | number)[]): Rng {
    return new Rng(`seed ${this.plan.seed}/job ${this.job}/${path.join('/')}`);
  }

  /** Whether its input does not fit the schema. */
  isMisfit(index: number): boolean {
    return this.rng(index, 'input').chance(0.02 * this.plan.mischief);
  }

  /** The calls that an item makes, in this order, in each of its attempts. */
  calls(subject: string): readonly CallPlan[] {
    const rng = this.rng(subject, 'calls');
    const count = rng.weighted({ 0: 45, 1: 30, 2: 15, 3: 10 }) as unknown as number;
    return Array.from({ length: count }, (_, i) => ({
      name: `c${i}`,
      mode: rng.pick(['plain', 'reconcile', 'idempotent', 'both'] as const),
      swallowed: rng.chance(0.15 * this.plan.mischief),
      deaf: rng.chance(0.2 * this.plan.mischief),
    }));
  }

  /** The `n`th run of an item, or of what follows its `n`th answer. */
  attempt(index: number, kind: 'run' | 'resume', n: number): AttemptPlan {
    const rng = this.rng(index, kind, n);
    const { mischief, poison } = this.plan;
    const steps: Step[] = [];
    const isPoison = poison > 0 && this.rng(index, 'poison').chance(poison);
    if (rng.chance(0.6)) steps.push(this.sleep(rng));
    steps.push(...this.effects(index, kind, n, rng));
    if (kind === 'run') steps.push(...this.calls(String(index)).map((call) => ({ do: 'call' as const, call })));
    if (rng.chance(0.4)) steps.push(this.sleep(rng));
    if (isPoison || (poison > 0 && rng.chance(poison / 3))) steps.push({ do: 'die' });
    return { steps, ending: this.ending(index, kind, n, mischief), ms: rng.int(0, 15_000) };
  }

  private effects(index: number, kind: string, n: number, rng: Rng): Step[] {
    const steps: Step[] = [];
    if (rng.chance(0.6)) steps.push({ do: 'meter', key: `same ${kind}`, quantity: 1 + (index % 3) });
    if (rng.chance(0.3)) steps.push({ do: 'meter', key: `${kind} ${n}`, quantity: 10 });
    if (this.rng(index, kind, 'once').chance(0.2))
      steps.push({ do: 'once', name: `effect-${kind}`, ms: rng.int(0, 800) });
    if (rng.chance(0.1)) steps.push({ do: 'say' });
    return steps;
  }

  private sleep(rng: Rng): Step {
    const { mischief } = this.plan;
    const long = rng.weighted({ 30: 4, 300: 4, 2_000: 3, 20_000: mischief });
    return { do: 'sleep', ms: rng.int(0, Number(long)), deaf: rng.chance(0.3 * mischief) };
  }

  /** Mischief ends: from the eighth run on an item behaves, so that nothing goes on for ever. */
  private ending(index: number, kind: 'run' | 'resume', n: number, mischief: number): EndingKind {
    const wants = this.rng(index, 'waits').chance(0.25);
    const again = kind === 'resume' && this.rng(index, 'waits again').chance(0.2) && n < 3;
    const good = (kind === 'run' && wants) || again ? 'wait' : 'return';
    if (n > 8) return good;
    return this.rng(index, kind, n, 'ending').weighted<EndingKind>({
      [good]: 10,
      throw: 4 * mischief,
      reject: 0.4 * mischief,
      defer: 1.5 * mischief,
      review: 0.3 + 0.5 * mischief,
      hang: 0.7 * mischief,
      hang_deaf: 0.5 * mischief,
      misfit: 0.2 * mischief,
      leave: 0.4 * mischief,
    });
  }

  /** The `n`th sending of a call. */
  manner(label: string, n: number): Manner {
    const { mischief } = this.plan;
    if (n > 8) return 'ok';
    return this.rng(label, 'manner', n).weighted<Manner>({
      ok: 10,
      slow: 1 + mischief,
      declined: 1.2 * mischief,
      rejected: 0.2 * mischief,
      deferred: 0.6 * mischief,
      error: 1.2 * mischief,
      booked_lost: 1.2 * mischief,
      hang_booked: 0.4 * mischief,
      hang: 0.4 * mischief,
    });
  }

  /** How the vendor takes the `n`th question about a call. `amnesia` is for good. */
  reconciling(label: string, n: number): 'truth' | 'amnesia' | 'error' {
    const { mischief } = this.plan;
    if (this.rng(label, 'amnesia').chance(0.08 * mischief)) return 'amnesia';
    return n < 5 && this.rng(label, 'reconcile', n).chance(0.2 * mischief) ? 'error' : 'truth';
  }

  wait(label: string): WaitPlan {
    const { mischief } = this.plan;
    const rng = this.rng(label, 'wait');
    const fate = rng.weighted<WaitPlan['fate']>({
      ready: 10,
      expired: 0.7 * mischief,
      silent: 0.5 * mischief,
      forgotten: 0.5 * mischief,
    });
    return { fate, ms: rng.int(0, rng.pick([500, 5_000, 40_000])) };
  }
}
