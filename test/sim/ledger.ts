import type { SimProcess } from './process';
import type { Scheduler } from './scheduler';
import type { EndingKind } from './script';
import type { Trace } from './trace';

/** One run of payload code for one item, as the payload knows it. Times are ms since the epoch. */
export interface Run {
  readonly job: number;
  readonly index: number;
  readonly kind: 'run' | 'resume' | 'batch';
  /** The how-manieth of its kind for the item. */
  readonly n: number;
  /** Named in whatever it ends with, so that its disposition is known when it is seen. */
  readonly name: string;
  readonly process: SimProcess;
  readonly startedAt: number;
  endedAt: number | null;
  /** How it ended by itself: null while it has not, and for ever if its process died. */
  ended: EndingKind | 'call' | 'stopped' | null;
  /** Code of the error that it ended with. */
  code: string | null;
  readonly meters: { readonly key: string; readonly quantity: number }[];
}

/** What payloads did: the other half of what the store says of them. */
export class Ledger {
  readonly runs: Run[] = [];
  readonly effects = new Map<string, { startedAt: number; doneAt: number | null }[]>();
  private readonly counts = new Map<string, number>();
  private readonly active = new Map<string, Run>();
  /** Whether an item has its outcome: a batch that keeps its members brings it along without running it. */
  isEnded: (job: number, index: number) => boolean = () => false;
  /** Told of each run before it begins. */
  onStart: (run: Run) => void = () => undefined;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly trace: Trace,
  ) {}

  start(process: SimProcess, job: number, index: number, kind: Run['kind']): Run {
    const counter = `${job}/${index}/${kind}`;
    const n = (this.counts.get(counter) ?? 0) + 1;
    this.counts.set(counter, n);
    const run: Run = {
      ...{ job, index, kind, n, process },
      name: `<${counter}/${n}>`,
      startedAt: this.scheduler.now(),
      endedAt: null,
      ended: null,
      code: null,
      meters: [],
    };
    this.trace.add(process.name, `${kind} ${run.name}`);
    const place = `${process.name} ${job}/${index}`;
    const other = this.active.get(place);
    if (other && !this.isEnded(job, index))
      this.trace.violate('one attempt of an item at a time in a process', `${run.name} and ${other.name}`);
    this.active.set(place, run);
    this.runs.push(run);
    this.onStart(run);
    return run;
  }

  end(run: Run, how: NonNullable<Run['ended']>, code: string | null = null): void {
    if (run.endedAt !== null) return;
    run.endedAt = this.scheduler.now();
    run.ended = how;
    run.code = code;
    const place = `${run.process.name} ${run.job}/${run.index}`;
    if (this.active.get(place) === run) this.active.delete(place);
    this.trace.add(run.process.name, `end ${run.name} ${how}${code === null ? '' : ` ${code}`}`);
  }

  /** Runs of payload code that are under way in processes that live. */
  activeOf(job: number): Run[] {
    return [...this.active.values()].filter((run) => run.job === job && run.process.isAlive);
  }

  runsOf(job: number, index: number): Run[] {
    return this.runs.filter((run) => run.job === job && run.index === index);
  }
}
