import { createHash } from 'node:crypto';
import { BEGINNING, type Scheduler } from './scheduler';

/** Lines kept for whoever reads about a failure. */
const TAIL = 400;

/** A broken promise of the product, and when it was seen. */
export interface Violation {
  readonly rule: string;
  readonly what: string;
}

/** What happened in a world, line by line; two runs of one seed have the same hash. */
export class Trace {
  readonly violations: Violation[] = [];
  /** Faults that took place, by kind. */
  readonly faults: Record<string, number> = {};
  lines = 0;
  private readonly hasher = createHash('sha256');
  private readonly kept: string[] = [];

  constructor(
    private readonly scheduler: Scheduler,
    /** Keeps all lines, not the last ones only. */
    private readonly all: boolean,
  ) {}

  add(who: string, what: string): void {
    const line = `${((this.scheduler.now() - BEGINNING) / 1_000).toFixed(3).padStart(9)} ${who.padEnd(7)} ${what}`;
    this.lines++;
    this.hasher.update(line);
    this.kept.push(line);
    if (!this.all && this.kept.length > 2 * TAIL) this.kept.splice(0, TAIL);
  }

  fault(kind: string, who: string, detail = ''): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
    this.add(who, `!! ${kind}${detail && ` ${detail}`}`);
  }

  violate(rule: string, what: string): void {
    // The first few of a kind say it all.
    if (this.violations.filter((known) => known.rule === rule).length >= 5) return;
    this.violations.push({ rule, what });
    this.add('CHECK', `** ${rule}: ${what}`);
  }

  tail(lines = TAIL): readonly string[] {
    return this.all ? this.kept : this.kept.slice(-lines);
  }

  hash(): string {
    return this.hasher.copy().digest('hex');
  }
}
