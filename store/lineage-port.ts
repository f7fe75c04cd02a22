/** The part of the store port that is about what failed: dead letters, and jobs that retry other jobs. */
import type { ErrorInfo } from '../model/error-info';
import type { Outcome } from '../model/states';
import type { ItemView, JobRecord, NewJob } from './port';

/** An item that the runner gave up on: it could not be brought to an end, though nobody said that it never will. */
export interface DeadLetter {
  /** The store's own number; ascending in order of death. */
  readonly no: number;
  readonly jobId: string;
  readonly capability: string;
  readonly itemId: string;
  readonly at: number;
  readonly attempts: number;
  readonly error: ErrorInfo;
  /** The job that retries it; null while nobody has dealt with it. */
  readonly replayedBy: string | null;
}

/** A dead letter with what a person needs to judge it, and a replay to do it. */
export interface DeadLetterDetail extends DeadLetter {
  /** The item's input and the job's params. JSON values. */
  readonly input: unknown;
  readonly params: unknown;
  readonly labels: Readonly<Record<string, string>>;
  /** Paid calls whose answer is not known: a replay leaves the item out unless told otherwise. */
  readonly openCalls: readonly OpenCallView[];
}

export interface OpenCallView {
  readonly call: string;
  readonly vendor: string | null;
  /** The idempotency key that the vendor was given. */
  readonly key: string;
  readonly remoteId: string | null;
}

export interface DeadLetterFilter {
  readonly tenant: string;
  readonly jobNo?: number;
  readonly capability?: string;
  readonly code?: string;
  /** Only those that were replayed, or only those that were not. */
  readonly replayed?: boolean;
  /** Only dead letters before this number: the newest come first. */
  readonly before?: number;
  readonly limit: number;
}

/** What is done about items with a paid call whose answer is not known. */
export const OPEN_CALL_CHOICES = ['leave_out', 'look_up', 'send_again'] as const;
export type OpenCallChoice = (typeof OPEN_CALL_CHOICES)[number];

/** Which items of a job are run again: those with an outcome, or those of them that are named. */
export interface RetrySelection {
  /** Ids; each must have ended without success. */
  readonly items?: readonly string[];
  readonly outcome?: Exclude<Outcome, 'succeeded'>;
  /** Only dead letters. */
  readonly deadLettered?: boolean;
  /** `send_again`: a person knows that nothing was charged, and the calls are forgotten. */
  readonly openCalls: OpenCallChoice;
}

/** Items that a retry did not take. */
export interface LeftOut {
  /** With a paid call whose answer is not known. */
  readonly openCalls: number;
  /** Taken by a later job of the lineage. */
  readonly retriedSince: number;
}

export interface Retried {
  readonly job: JobRecord;
  /** False where the idempotency key already had it. */
  readonly created: boolean;
  /** Null where it was not created now. */
  readonly leftOut: LeftOut | null;
}

/** An outcome and the job that it is from. */
export interface LineageItem {
  readonly jobId: string;
  readonly item: ItemView;
}

export interface Lineage {
  /**
   * Makes a job of items of `of`, which inherits its journal: what was paid for is not paid for again. `job.items` is
   * not known before, and left out.
   * @throws LineageBusy when the job, or another one of its lineage, has not ended.
   * @throws NotRetryable when a named item is not there or has succeeded, or when nothing is left to be retried.
   */
  retry(of: JobRecord, selection: RetrySelection, job: Omit<NewJob, 'items'>): Promise<Retried>;
  /** The jobs that share a journal, in order of submit. */
  lineage(job: JobRecord): Promise<JobRecord[]>;
  /**
   * The newest outcome of items over the lineage, each item once: first those of the oldest job, in their order, and so
   * on. `next` goes on; null at the end.
   */
  lineageItems(
    job: JobRecord,
    page: { after: string | null; limit: number; outcome?: Outcome },
  ): Promise<{ items: LineageItem[]; next: string | null }>;
  deadLetters(filter: DeadLetterFilter): Promise<DeadLetter[]>;
  deadLetter(no: number, tenant: string): Promise<DeadLetterDetail | undefined>;
  /** Dead letters that nobody has dealt with. */
  openDeadLetters(): Promise<number>;
}
