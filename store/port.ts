/**
 * The store as its users need it, in the words of the job. It exists so that the runner never knows which database
 * holds the items: adapters are SQLite (embedded) and, later, PostgreSQL, held to one conformance suite in
 * `test/conformance/store`.
 *
 * Every method is one short transaction or read. Times are ms since the epoch, from the clock the store was opened
 * with. Any method may throw `StoreUnavailable` when the database cannot be reached or stays locked; nothing was
 * written then.
 */
import type { ItemHistory, ParkKind } from '../model/attempts';
import type { ErrorInfo } from '../model/error-info';
import type { IndexSet } from '../model/index-set';
import type { Found } from '../model/pace';
import type { Plan } from '../model/plan';
import type { ItemState, JobState, Outcome, OutcomeCounts } from '../model/states';
import type { Journal } from './journal-port';
import type { Diagnose } from './diagnosis-port';
import type { Lineage } from './lineage-port';
import type { Observe } from './observe-port';

export type { ErrorInfo, ItemState, ParkKind };
export type * from './journal-port';
export type * from './diagnosis-port';
export * from './lineage-port';
export type * from './observe-port';

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
  /** The job whose journal and usage it shares: itself, or the one that it retries in the end. */
  readonly rootNo: number;
  /** The id of the job that it retries; null where it retries none. */
  readonly retryOf: string | null;
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
  readonly cancel: CancelReceipt | null;
  /** Rounds of finalize that found items without an outcome. */
  readonly finalizeRounds: number;
  readonly statement: Statement | null;
}

/** What a cancel has come to so far; items that it skipped are counted with the outcomes. */
export interface CancelReceipt {
  readonly at: number;
  readonly by: string;
  /** Items that ran when it was asked for. */
  readonly running: number;
  /** Of those, the ones that stopped without an outcome of their own. */
  readonly stopped: number;
  /** What vendors were asked to stop, and how many of those requests failed. */
  readonly vendorCancels: { readonly sent: number; readonly failed: number };
}

/** The account with which a job closes. */
export interface Statement {
  readonly items: number;
  readonly outcomes: OutcomeCounts;
  /** Attempts of all items that have an outcome. */
  readonly attempts: number;
  /** How often an item was put off without an attempt being counted. */
  readonly deferrals: number;
  /** Waits that were started. */
  readonly waits: number;
  /** Deliveries of units that died and were sent again. */
  readonly recoveries: number;
  /** `made`: how often a call that may cost something was sent. `unanswered`: calls of which nobody knows what came. */
  readonly vendorCalls: { readonly made: number; readonly unanswered: number };
  /** Where the time went from submit to end, ms; they add up to it. */
  readonly phases: Phases;
  /** Quantity used, by meter. */
  readonly usage: Readonly<Record<string, number>>;
}

/** Parts of a job's time, ms. */
export interface Phases {
  /** From the submit to its first unit. */
  readonly queuedMs: number;
  readonly runningMs: number;
  readonly pausedMs: number;
  /** From the request to cancel to the end. */
  readonly cancellingMs: number;
}

/** Items by what they are now; the sum is the job's items. */
export interface ItemCounts extends OutcomeCounts {
  readonly pending: number;
  readonly running: number;
  /** Parked until another attempt, or for an answer. */
  readonly waiting: number;
  /** Parked without an attempt counted. */
  readonly deferred: number;
}

/** What an item's outcome says beside its kind: a result, an error, or a reason with a draft. JSON. */
export interface OutcomeBody {
  readonly result?: unknown;
  readonly error?: ErrorInfo;
  readonly reason?: string;
  readonly draft?: unknown;
  /** What a vendor knows it by, where that is all there is to go by. */
  readonly remoteId?: string;
}

export interface ItemView {
  readonly index: number;
  readonly id: string;
  readonly state: ItemState;
  readonly attempts: number;
  readonly body: OutcomeBody | null;
  readonly finishedAt: number | null;
  readonly parked: {
    readonly kind: ParkKind;
    readonly due: number;
    readonly deferrals: number;
    readonly error: ErrorInfo | null;
  } | null;
  /** What it waits for at a vendor, and since when; null when it waits for nothing. */
  readonly wait: { readonly name: string; readonly remoteId: string | null; readonly since: number } | null;
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
  /** What the job's state became with it; null where it did not change. */
  readonly state: JobState | null;
}
/** Lines behind the one numbered `after`, oldest first. */
export interface LogPage {
  readonly after: number;
  readonly limit: number;
  readonly level?: LogLine['level'];
  readonly source?: LogLine['source'];
  /** Only lines with which the job's state changed. */
  readonly states?: true;
}
export type NewLogLine = Pick<LogLine, 'level' | 'source' | 'message'> & {
  readonly itemId?: string;
  readonly state?: JobState;
};

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

/** What a unit has before it. */
export interface OpenItems {
  /** Items to be run, ascending. */
  readonly open: readonly OpenItem[];
  /** Due items of the set that belong in another lane: not to be run. */
  readonly elsewhere: { readonly check: IndexSet; readonly quarantine: IndexSet };
  /** Earliest due time of the set's items that are parked for later; null when none is. */
  readonly nextDue: number | null;
}

/** An item's input, and the answer that it goes on with if it has waited. */
export interface ItemInput {
  readonly index: number;
  readonly id: string;
  /** JSON text. */
  readonly input: string;
  readonly resume: { readonly wait: string; readonly ordinal: number; readonly answer: unknown } | null;
}

/** A wait of which the vendor is to be asked. */
export interface OpenWait {
  readonly index: number;
  readonly wait: string;
  readonly remoteId: string;
  /** When it was started, ms since the epoch. */
  readonly since: number;
  /** Checks that found it pending. */
  readonly checks: number;
  /** Checks in a row that failed, or did not know it. */
  readonly errors: number;
  readonly history: ItemHistory;
}

export interface SettledItem {
  readonly index: number;
  readonly outcome: Outcome;
  readonly attempts: number;
  readonly body: OutcomeBody;
  /** The runner gave up on it: it is a dead letter. */
  readonly dead?: boolean;
}

export interface ParkedItem {
  readonly index: number;
  /** `wait`: for the item's wait, which its start has put into the store. */
  readonly kind: 'retry' | 'defer' | 'wait';
  readonly due: number;
  readonly history: ItemHistory;
  /** Why; null for a wait. */
  readonly error: ErrorInfo | null;
}

/** What checks of a unit's waits came to, beside the outcomes of those that failed. */
export interface CheckedWaits {
  /** Still pending, or not known: asked again at `due`. `failed`: the check was one of those that are tolerated. */
  readonly pending: readonly { readonly set: IndexSet; readonly due: number; readonly failed: boolean }[];
  /** Answered: their items go on at once. */
  readonly answered: readonly { readonly index: number; readonly answer: unknown }[];
}

export interface UsageEvent {
  readonly itemId: string;
  readonly key: string;
  readonly name: string;
  readonly quantity: number;
}

/** An item that has run for a while. */
export interface SlowItem {
  readonly index: number;
  readonly startedAt: number;
}

/** What a unit's attempts led to since its last flush. */
export interface UnitFlush {
  readonly fence: Fence;
  readonly settled: readonly SettledItem[];
  readonly parked: readonly ParkedItem[];
  readonly usage: readonly UsageEvent[];
  readonly log: readonly NewLogLine[];
  readonly checked?: CheckedWaits;
  /** Started items that a shutdown broke off, with their history from now on; they are open still. */
  readonly returned?: readonly { readonly index: number; readonly history: ItemHistory }[];
  /** Started items that a cancel stopped without an outcome. */
  readonly stopped?: number;
  /** Requests to vendors to stop something. */
  readonly vendorCancels?: { readonly sent: number; readonly failed: number };
  /** Items running now. */
  readonly running: number;
  readonly progress: Readonly<Record<number, ItemProgress>>;
  /** Of the running items, those that have run for longest, if any has run for a while. */
  readonly slowest?: readonly SlowItem[];
  /** The queue wants the unit back, and the unit does not know why: the sweep should look at the job. */
  readonly doubtful?: boolean;
  /** The unit ends with this flush. */
  readonly close: boolean;
}

/** An item that had started in a worker that died, as its supervisor found it. */
export interface StartedItem {
  readonly jobNo: number;
  readonly generation: number;
  readonly seq: number;
  readonly index: number;
}

export interface WorkerRow {
  /** The incarnation: another one for each start of a process. */
  readonly id: string;
  readonly pool: string;
  readonly capabilities: readonly string[];
  readonly ceilings: Readonly<Record<string, number>>;
  readonly memoryMb: number;
  /** How late its event loop was since its last beat, ms; the 99th percentile. */
  readonly loopDelayMs: number;
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
  log(no: number, page: LogPage): Promise<LogLine[]>;
  appendLog(no: number, line: NewLogLine): Promise<void>;
}

export interface Units {
  /** The job's workflow of this generation runs. */
  workflowStarted(no: number, generation: number): Promise<void>;
  /** Where a generation begins: the first item that is neither ended nor parked, and the earliest due time. */
  beginning(no: number): Promise<{ cursor: number; nextDue: number | null }>;
  /** Admits a delivery of a unit; undefined when a newer generation or delivery has taken over, or the unit is closed. */
  openUnit(fence: Fence, unit: { worker: string; size: number; running: number }): Promise<JobRecord | undefined>;
  /** In quarantine, suspects are what is to be run. `all`: whatever has no outcome, due or not, in any lane. */
  openItems(no: number, set: IndexSet, lane: 'run' | 'quarantine' | 'all'): Promise<OpenItems>;
  /** Waits of the set that are due, ascending, and the earliest due time of those that are not. */
  openWaits(no: number, set: IndexSet): Promise<{ waits: OpenWait[]; nextDue: number | null }>;
  /** Inputs of the given items, ascending. */
  inputs(no: number, set: IndexSet): Promise<ItemInput[]>;
  /** Writes flushes in one transaction; false for each that the fence refused (its usage is taken all the same). */
  settle(flushes: readonly UnitFlush[]): Promise<boolean[]>;
  /**
   * Closes a lost unit and says which of its items are open. Where no supervisor has said which of them had started,
   * each has been lost once more, and is a suspect at the third time (`LOSS_LIMIT`).
   */
  recover(no: number, generation: number, seq: number, set: IndexSet): Promise<{ open: Found; nextDue: number | null }>;
  /** Makes suspects of open items that had started in a dead worker, and says how many; `why` is shown with them. */
  suspect(items: readonly StartedItem[], why: ErrorInfo): Promise<number>;
  /** Notes that an item's process died while it ran alone; how often that has happened. */
  diedAlone(fence: Fence, index: number, why: ErrorInfo): Promise<number>;
  /**
   * Due items outside of `exclude`, at most `limit`, and of each lane at most `CLAIM_PIECES` ranges; those first that
   * were due first. `without` a lane: none of its items. `more`: there are others to be had of those that were asked
   * for; otherwise `nextDue` is the earliest due time of any item that is parked for later.
   */
  due(
    no: number,
    exclude: IndexSet,
    limit: number,
    without?: 'run',
  ): Promise<{ due: Found; more: boolean; nextDue: number | null }>;
  /** Items of jobs being cancelled, by number. */
  cancelling(jobNos: readonly number[]): Promise<number[]>;
  /**
   * Ends every open item of a cancelled job, in short transactions: one with a paid call whose answer is not known as
   * needs_review (`UNKNOWN_CHARGE`, with the remote id), the others as skipped (`CANCELLED`).
   */
  endCancelled(no: number): Promise<{ skipped: number; unknown: number }>;
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
  /** Workers that have a unit of the job open. */
  unitWorkers(no: number): Promise<string[]>;
}

export interface Store extends Intake, Jobs, Units, Journal, Lineage, Diagnose, Fleet, Observe {
  /** The UUID that the store was created with. */
  readonly id: string;
  /** Calls `listener` soon after anything was written, by whichever process; may call for nothing. */
  onChange(listener: () => void): () => void;
  /** @throws StoreUnavailable */
  check(): Promise<void>;
  close(): Promise<void>;
}
