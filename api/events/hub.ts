import { isTerminal } from '../../model/states';
import type { ItemCounts, JobGlance, JobRecord, LogLine, Store } from '../../store';
import { StoreUnavailable } from '../../store';
import type { Bell } from './bell';
import { lineFrame, progressFrame } from './frames';

/** A page of the log as readers send it: about so many characters at most, but one line at least. */
const PAGE_CHARS = 32_000;

/** So many lines are read for the first page; for the next ones as many as come near to a page, within these bounds. */
const FIRST_LINES = 20;
const LEAST_LINES = 5;
const MOST_LINES = 200;

/** Pages that are kept for readers that are at the same place. */
const KEPT_PAGES = 8;

/** Counts are told this often at most, ms: a reader of 1 KB/s keeps up with them. */
export const PROGRESS_MS = 1_000;

/** A job whose counts seem the same is counted again after this long, ms. */
const RECOUNT_MS = 5_000;

/** A piece of the log, behind some place in it. */
export interface Page {
  /** The events, one after another; empty when there are none now. */
  readonly text: string;
  /** The log is known up to here. */
  readonly upTo: number;
}

/** All that the readers of one job share: what is read of the store for one is read for all. */
export class Hub {
  private counts: ItemCounts | undefined;
  private countedAt = -Infinity;
  private stamp = '';
  /** Something was written since the counts were read. */
  private behind = false;
  private newestLine = 0;
  private deleted = false;
  private progressText = '';
  private readonly bells = new Set<Bell>();
  private readonly pages = new Map<string, Promise<Page>>();
  private pageLines = FIRST_LINES;
  private lastLook: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Store,
    private job: JobRecord,
    private readonly now: () => number,
  ) {}

  get no(): number {
    return this.job.no;
  }

  get id(): string {
    return this.job.id;
  }

  get readers(): number {
    return this.bells.size;
  }

  /** The job and its counts as last read; undefined until that was possible. */
  get view(): { job: JobRecord; counts: ItemCounts } | undefined {
    return this.counts && { job: this.job, counts: this.counts };
  }

  /** The event that says how far the job is. */
  get progress(): string {
    return this.progressText;
  }

  /** Nothing new will come: it has ended, or it is gone. */
  get over(): boolean {
    return this.deleted || (this.counts !== undefined && isTerminal(this.job.state));
  }

  /** Whether it was deleted before anybody here saw its end. */
  get gone(): boolean {
    return this.deleted && !isTerminal(this.job.state);
  }

  /** `bell` rings whenever there may be news. Returns how to leave. */
  join(bell: Bell): () => void {
    this.bells.add(bell);
    return () => this.bells.delete(bell);
  }

  /** When the job is to be looked at again though the store seems unchanged, ms from now. */
  get dueIn(): number {
    return this.over ? Infinity : Math.max(0, this.countAt - this.now());
  }

  private get countAt(): number {
    return this.countedAt + (this.behind ? PROGRESS_MS : RECOUNT_MS);
  }

  /** Takes up what a glance says, undefined when the job is gone; reads the job again where that tells of news. */
  look(glance: JobGlance | undefined): Promise<void> {
    // One after another: what was read later is not to be overtaken by what was read before.
    const look = this.lastLook.then(() => this.takeUp(glance));
    this.lastLook = look.catch(() => undefined);
    return look;
  }

  private async takeUp(glance: JobGlance | undefined): Promise<void> {
    if (this.over) return;
    if (!glance) {
      this.deleted = true;
      return this.ring();
    }
    if (glance.newestLine > this.newestLine) {
      this.newestLine = glance.newestLine;
      this.pages.clear();
      this.ring();
    }
    this.behind = glance.stamp !== this.stamp;
    if (glance.state !== this.job.state || this.now() >= this.countAt) await this.count(glance);
  }

  private async count(glance: JobGlance): Promise<void> {
    const job = await this.store.jobByNo(this.job.no);
    if (!job) return;
    this.counts = await this.store.counts(job);
    this.job = job;
    this.stamp = glance.stamp;
    this.behind = false;
    this.countedAt = this.now();
    // A page that was read before the end may lack the line of it.
    if (this.over) this.pages.clear();
    const text = progressFrame(job, this.counts);
    if (text === this.progressText && !this.over) return;
    this.progressText = text;
    this.ring();
  }

  /** The log behind `after`; undefined while the store is away. @param all also lines without a change of state. */
  async page(after: number, all: boolean): Promise<Page | undefined> {
    // What a job that has ended has in its log is read to its end, whatever the last glance said.
    if (!this.over && after >= this.newestLine) return { text: '', upTo: after };
    const key = `${after} ${all}`;
    const page = this.pages.get(key) ?? this.keep(key, this.read(after, all));
    try {
      return await page;
    } catch (error) {
      this.pages.delete(key);
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  private keep(key: string, page: Promise<Page>): Promise<Page> {
    const [oldest] = this.pages.keys();
    if (oldest !== undefined && this.pages.size >= KEPT_PAGES) this.pages.delete(oldest);
    this.pages.set(key, page);
    return page;
  }

  private async read(after: number, all: boolean): Promise<Page> {
    const known = this.newestLine;
    const limit = this.pageLines;
    const lines = await this.store.log(this.no, { after, limit, ...(!all && { states: true }) });
    const { text, last, taken } = cut(lines);
    if (taken > 0) this.pageLines = clamp(Math.ceil((taken * PAGE_CHARS) / text.length));
    const upTo = last?.no ?? after;
    const whole = lines.length < limit && taken === lines.length;
    return { text, upTo: whole ? Math.max(upTo, known) : upTo };
  }

  private ring(): void {
    for (const bell of this.bells) bell.ring();
  }
}

function clamp(lines: number): number {
  return Math.max(LEAST_LINES, Math.min(MOST_LINES, lines));
}

/** As many lines as make a page. */
function cut(lines: readonly LogLine[]): { text: string; last: LogLine | undefined; taken: number } {
  let text = '';
  let taken = 0;
  for (const line of lines) {
    const next = lineFrame(line);
    if (taken > 0 && text.length + next.length > PAGE_CHARS) break;
    text += next;
    taken++;
  }
  return { text, last: lines[taken - 1], taken };
}
