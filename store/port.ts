/**
 * The store as its users need it, in the words of the job. It exists so that the runner never knows which database
 * holds the items: adapters are SQLite (embedded) and, later, PostgreSQL, held to one conformance suite in
 * `test/conformance/store`.
 *
 * Every method is one short transaction or read. Times are ms since the epoch, from the clock the store was opened
 * with. Any method may throw `StoreUnavailable` when the database cannot be reached or stays locked; nothing was
 * written then.
 */
import type { ItemHistory } from '../model/attempts';
import type { ErrorInfo } from '../model/error-info';
import type { IndexSet } from '../model/index-set';
import type { Plan } from '../model/plan';
import type { JobState, Outcome, OutcomeCounts } from '../model/states';

export type { ErrorInfo };

export interface NewItem {
  readonly index: number;
  readonly id: string;
  /** The input as JSON text. */
  readonly input: string;
}

export interface NewJob {
  readonly id: string;
  readonly tenant: string;
  readonly caller: string;
  readonly capability: string;
  readonly params: unknown;
  readonly labels: Readonly<Record<string, string>>;
  readonly plan: Plan;
  /** How many items the upload holds; the seal checks it. */
  readonly items: number;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
}

export interface JobRecord {
  /** The store's own number; ascending in order of submit. Other methods take it. */
  readonly no: number;
  readonly id: string;
  readonly tenant: string;
  readonly caller: string;
  readonly capability: string;
  readonly params: unknown;
  readonly labels: Readonly<Record<string, string>>;
  readonly plan: Plan;
  readonly items: number;
  readonly state: JobState;
  readonly paused: boolean;
  readonly generation: number;
  readonly outcomes: OutcomeCounts;
  readonly createdAt: number;
  /** When its workflow was started; null while that is still to be done. */
  readonly workflowStartedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly cancel: { readonly at: number; readonly by: string } | null;
  /** Rounds of finalize that found items without an outcome. */
  readonly finalizeRounds: number;
  readonly statement: Statement | null;
}

/** The account with which a job closes. */
export interface Statement {
  readonly items: number;
  readonly outcomes: OutcomeCounts;
  /** Attempts of all items that have an outcome. */
  readonly attempts: number;
  /** Quantity used, by meter. */
  readonly usage: Readonly<Record<string, number>>;
}

/** Items by what they are now; the sum is the job's items. */
export interface ItemCounts extends OutcomeCounts {
  readonly pending: number;
  readonly running: number;
  /** Parked until another attempt. */
  readonly waiting: number;
  /** Parked without an attempt counted. */
  readonly deferred: number;
}

export type ItemState = Outcome | 'pending' | 'running' | 'waiting' | 'deferred';

/** What an item's outcome says beside its kind: a result, an error, or a reason with a draft. JSON. */
export interface OutcomeBody {
  readonly result?: unknown;
  readonly error?: ErrorInfo;
  readonly reason?: string;
  readonly draft?: unknown;
}

export interface ItemView {
  readonly index: number;
  readonly id: string;
  readonly state: ItemState;
  readonly attempts: number;
  readonly body: OutcomeBody | null;
  readonly finishedAt: number | null;
  readonly parked: { readonly due: number; readonly deferrals: number; readonly error: ErrorInfo | null } | null;
  readonly progress: ItemProgress | null;
}

export interface ItemProgress {
  readonly done: number;
  readonly total?: number;
  readonly note?: string;
}

export interface JobFilter {
  readonly tenant: string;
  readonly state?: JobState;
  readonly capability?: string;
  readonly label?: { readonly key: string; readonly value: string };
  /** Only jobs before this number: the newest come first. */
  readonly before?: number;
  readonly limit: number;
}

export interface LogLine {
  readonly no: number;
  readonly at: number;
  readonly level: 'info' | 'warn' | 'error';
  /** Who speaks: the runner, or the payload through `ctx.log`. */
  readonly source: 'runner' | 'payload';
  readonly message: string;
  readonly itemId: string | null;
}
export type NewLogLine = Pick<LogLine, 'level' | 'source' | 'message'> & { readonly itemId?: string };

/** Which delivery of which unit is speaking; a newer one makes the store refuse it. */
export interface Fence {
  readonly jobNo: number;
  readonly generation: number;
  readonly seq: number;
  /** Tells two deliveries of the same unit apart. */
  readonly delivery: string;
}

/** An item of a unit that is to be run. */
export interface OpenItem {
  readonly index: number;
  readonly history: ItemHistory;
  /** Size of its input in bytes. */
  readonly bytes: number;
}

export interface OpenItems {
  readonly open: readonly OpenItem[];
  /** Earliest due time of the set's items that are parked for later; null when none is. */
  readonly nextDue: number | null;
}

export interface SettledItem {
  readonly index: number;
  readonly outcome: Outcome;
  readonly attempts: number;
  readonly body: OutcomeBody;
}

export interface ParkedItem {
  readonly index: number;
  readonly kind: 'retry' | 'defer';
  readonly due: number;
  readonly history: ItemHistory;
  readonly error: ErrorInfo;
}

export interface UsageEvent {
  readonly itemId: string;
  readonly key: string;
  readonly name: string;
  readonly quantity: number;
}

/** What a unit's attempts led to since its last flush. */
export interface UnitFlush {
  readonly fence: Fence;
  readonly settled: readonly SettledItem[];
  readonly parked: readonly ParkedItem[];
  readonly usage: readonly UsageEvent[];
  readonly log: readonly NewLogLine[];
  /** Items running now. */
  readonly running: number;
  readonly progress: Readonly<Record<number, ItemProgress>>;
  /** The queue wants the unit back, and the unit does not know why: the sweep should look at the job. */
  readonly doubtful?: boolean;
  /** The unit ends with this flush. */
  readonly close: boolean;
}

export interface WorkerRow {
  /** The incarnation: another one for each start of a process. */
  readonly id: string;
  readonly pool: string;
  readonly capabilities: readonly string[];
  readonly ceilings: Readonly<Record<string, number>>;
  readonly memoryMb: number;
  readonly startedAt: number;
  readonly beatAt: number;
}

export interface Intake {
  openUpload(tenant: string): Promise<number>;
  /** @throws DuplicateItemId */
  addItems(upload: number, items: readonly NewItem[]): Promise<void>;
  /**
   * Makes the upload a job, in one transaction. With an idempotency key that is taken by the same body, the upload is
   * dropped and the job that has the key is returned.
   * @throws IdempotencyConflict when another body has the key.
   */
  seal(upload: number, job: NewJob): Promise<{ job: JobRecord; created: boolean }>;
  dropUpload(upload: number): Promise<void>;
  /** Uploads that nothing was added to since `before`. */
  brokenUploads(before: number): Promise<number[]>;
}

export interface Jobs {
  job(id: string, tenant: string): Promise<JobRecord | undefined>;
  jobByNo(no: number): Promise<JobRecord | undefined>;
  jobs(filter: JobFilter): Promise<JobRecord[]>;
  counts(job: JobRecord): Promise<ItemCounts>;
  /** Idempotent; refused by the state table the job is returned as it is. */
  requestCancel(no: number, by: string): Promise<JobRecord>;
  pause(no: number): Promise<JobRecord>;
  resume(no: number): Promise<JobRecord>;
  /** Removes a terminal job from sight; its rows go with the next `dropUpload` of its number. False when not terminal. */
  deleteJob(no: number): Promise<boolean>;
  items(job: JobRecord, page: { outcome?: Outcome; after: number; limit: number }): Promise<ItemView[]>;
  item(job: JobRecord, id: string): Promise<ItemView | undefined>;
  log(no: number, page: { after: number; limit: number }): Promise<LogLine[]>;
  appendLog(no: number, line: NewLogLine): Promise<void>;
}

export interface Units {
  /** The job's workflow of this generation runs. */
  workflowStarted(no: number, generation: number): Promise<void>;
  /** Where a generation begins: the first item that is neither ended nor parked, and the earliest due time. */
  beginning(no: number): Promise<{ cursor: number; nextDue: number | null }>;
  /** Admits a delivery of a unit; undefined when a newer generation or delivery has taken over, or the unit is closed. */
  openUnit(fence: Fence, unit: { worker: string; size: number; running: number }): Promise<JobRecord | undefined>;
  openItems(no: number, set: IndexSet): Promise<OpenItems>;
  /** Ids and inputs of the given items, ascending. */
  inputs(no: number, set: IndexSet): Promise<{ index: number; id: string; input: string }[]>;
  /** Writes flushes in one transaction; false for each that the fence refused (its usage is taken all the same). */
  settle(flushes: readonly UnitFlush[]): Promise<boolean[]>;
  /** Closes a lost unit and says which of its items are open. */
  recover(
    no: number,
    generation: number,
    seq: number,
    set: IndexSet,
  ): Promise<{ open: IndexSet; nextDue: number | null }>;
  /** Due items outside of `exclude`, at most `limit`. */
  due(no: number, exclude: IndexSet, limit: number): Promise<{ set: IndexSet; more: boolean; nextDue: number | null }>;
  /** Items of jobs being cancelled, by number. */
  cancelling(jobNos: readonly number[]): Promise<number[]>;
  /** Gives every open item the outcome of `body`, in short transactions; returns how many. */
  endOpenItems(no: number, outcome: Outcome, body: OutcomeBody): Promise<number>;
  /** Closes the job if every item has an outcome; otherwise some of the items that have none. */
  finalize(no: number, round: number): Promise<{ state: JobState } | { missing: IndexSet; nextDue: number | null }>;
}

export interface Fleet {
  beat(worker: Omit<WorkerRow, 'beatAt'>): Promise<void>;
  retire(workerId: string): Promise<void>;
  workers(aliveSince: number): Promise<WorkerRow[]>;
  /** Takes or prolongs a named lease; false while another holder has it. */
  lease(name: string, holder: string, ttlMs: number): Promise<boolean>;
  /** Jobs that are sealed and whose workflow was not started. */
  unstarted(before: number, limit: number): Promise<JobRecord[]>;
  /**
   * Open jobs of which nothing was heard since `before`, that are being cancelled, or that a unit has doubts about;
   * the longest silent first.
   */
  silent(before: number, limit: number): Promise<JobRecord[]>;
  /** Notes that a silent job was looked at. */
  touch(no: number): Promise<void>;
  /** Moves a job to the next generation, if it still has `generation`; older units are refused from then on. */
  nextGeneration(no: number, generation: number): Promise<boolean>;
  stuckJobs(limit: number): Promise<JobRecord[]>;
  /** Workers that have a unit of the job open. */
  unitWorkers(no: number): Promise<string[]>;
}

export interface Store extends Intake, Jobs, Units, Fleet {
  /** The UUID that the store was created with. */
  readonly id: string;
  /** Calls `listener` soon after anything was written, by whichever process; may call for nothing. */
  onChange(listener: () => void): () => void;
  /** @throws StoreUnavailable */
  check(): Promise<void>;
  close(): Promise<void>;
}
