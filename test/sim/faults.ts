import type { FaultProfile, SeedPlan } from './plan';
import type { Rng } from './random';
import { BEGINNING, type Scheduler } from './scheduler';
import type { Trace } from './trace';

type Chance = {
  [Key in keyof FaultProfile]: Key extends `${string}Every` ? never : Key;
}[keyof FaultProfile];

/** Draws faults as long as there are to be any. */
export class Faults {
  private outageUntil = 0;
  /** When anything of the infrastructure failed last, ms since the epoch. */
  lastAt = 0;

  constructor(
    readonly rng: Rng,
    private readonly plan: SeedPlan,
    private readonly scheduler: Scheduler,
    private readonly trace: Trace,
  ) {}

  get areOver(): boolean {
    return this.scheduler.now() >= BEGINNING + this.plan.healAt;
  }

  /** Whether the fault takes place, here and now; it is counted then. */
  strikes(kind: Chance, who: string, detail = ''): boolean {
    const chance = this.plan.faults[kind];
    if (chance === 0 || this.areOver || !this.rng.chance(chance)) return false;
    this.note(kind, who, detail);
    return true;
  }

  note(kind: string, who: string, detail = ''): void {
    this.lastAt = this.scheduler.now();
    this.trace.fault(kind, who, detail);
  }

  /** How long something takes that takes no time to speak of: mostly none, so that much happens at once. */
  latency(): number {
    const draw = this.rng.next();
    if (draw < 0.5) return 0;
    return draw < 0.97 ? this.rng.int(1, 15) : this.rng.int(15, 200);
  }

  /** Has `strike` called now and then, `every` ms on average, as long as there are to be faults. */
  recurring(every: number, strike: () => void): void {
    if (every === Infinity) return;
    const wait = Math.max(1, Math.round(-Math.log(1 - this.rng.next()) * every));
    this.scheduler.after(wait, () => {
      if (this.areOver) return;
      strike();
      this.recurring(every, strike);
    });
  }

  startOutage(ms: number): void {
    this.note('outage', 'store', `${ms} ms`);
    this.outageUntil = Math.max(this.outageUntil, this.scheduler.now() + ms);
  }

  get isOutage(): boolean {
    return this.scheduler.now() < this.outageUntil;
  }
}
