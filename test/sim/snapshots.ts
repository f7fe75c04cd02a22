import { CompiledQuery } from 'kysely';
import type { World } from './world';

/** How often what is in the store is compared with what was there before, ms. */
const LOOK_MS = 2_000;

export interface OutcomeRow {
  readonly job_no: number;
  readonly idx: number;
  readonly outcome: string;
  readonly attempts: number;
  readonly body: string;
  readonly at: number;
}

export interface JobRow {
  readonly no: number;
  readonly id: string;
  readonly items: number;
  readonly state: string;
  readonly succeeded: number;
  readonly failed: number;
  readonly needs_review: number;
  readonly skipped: number;
  readonly finished_at: number | null;
  readonly cancel_at: number | null;
  readonly statement: string | null;
  readonly plan: string;
  readonly root_no: number;
  readonly finalize_rounds: number;
  readonly created_at: number;
  readonly vendor_cancels_sent: number;
  readonly vendor_cancels_failed: number;
}

/** Reads a world's database behind every fault. */
export async function readAll<Row>(world: World, query: string, ...parameters: unknown[]): Promise<Row[]> {
  const { rows } = await world.scheduler.during(() => world.db.executeQuery<Row>(CompiledQuery.raw(query, parameters)));
  return rows;
}

/** What was seen of a world's jobs while it ran: an outcome that was seen stays, and so does an end. */
export class Snapshots {
  private jobs: readonly JobRow[] = [];
  private readonly outcomes = new Map<string, string>();
  private readonly ends = new Map<number, string>();

  constructor(private readonly world: World) {
    this.next();
  }

  /** Whether every job that was to be submitted is there, and has ended. */
  allEnded(): boolean {
    return this.jobs.length >= this.world.plan.jobs.length && this.jobs.every((job) => job.finished_at !== null);
  }

  private next(): void {
    this.world.scheduler.after(LOOK_MS, () => void this.look().then(() => this.next()));
  }

  async look(): Promise<void> {
    this.jobs = await readAll<JobRow>(this.world, 'select * from jobs');
    for (const job of this.jobs) this.compareEnd(job);
    for (const row of await readAll<OutcomeRow>(this.world, 'select * from outcomes')) this.compareOutcome(row);
    await this.countWaits();
  }

  private compareEnd(job: JobRow): void {
    if (job.finished_at === null) return;
    const { state, succeeded, failed, needs_review, skipped, finished_at, statement } = job;
    const text = JSON.stringify({ state, succeeded, failed, needs_review, skipped, finished_at, statement });
    const before = this.ends.get(job.no);
    if (before !== undefined && before !== text) {
      this.world.trace.violate('an end does not change', `${job.id}: ${before} became ${text}`);
    }
    this.ends.set(job.no, text);
  }

  private compareOutcome({ job_no, idx, ...outcome }: OutcomeRow): void {
    const place = `${job_no}/${idx}`;
    const text = JSON.stringify(outcome);
    const before = this.outcomes.get(place);
    if (before !== undefined && before !== text) {
      this.world.trace.violate('an outcome does not change', `${place}: ${before} became ${text}`);
    }
    this.outcomes.set(place, text);
  }

  private async countWaits(): Promise<void> {
    const { maxOpen } = this.world.plan;
    if (maxOpen === undefined) return;
    const [row] = await readAll<{ open: number }>(this.world, 'select count(*) as open from waits where answered = 0');
    if (row!.open > maxOpen) this.world.trace.violate('waits keep to their ceiling', `${row!.open} of ${maxOpen}`);
  }
}
