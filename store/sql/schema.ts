import type { Generated } from 'kysely';

/** The tables, as both SQL adapters have them. JSON is text; times are ms since the epoch; flags are 0 or 1. */
export interface Schema {
  meta: { key: string; value: string };
  /** `root_no`: of a deleted job whose rows are being dropped. */
  uploads: { no: Generated<number>; tenant: string; items: number; touched_at: number; root_no: number | null };
  jobs: JobsTable;
  job_labels: { job_no: number; key: string; value: string };
  items: { job_no: number; idx: number; id: string; input: string };
  outcomes: { job_no: number; idx: number; outcome: string; attempts: number; body: string; at: number };
  parked: ParkedTable;
  waits: WaitsTable;
  units: UnitsTable;
  journal: JournalTable;
  batches: BatchesTable;
  usage: { root_no: number; item_id: string; key: string; name: string; quantity: number; job_no: number; at: number };
  workers: WorkersTable;
  job_log: LogTable;
  dead_letters: DeadLettersTable;
  /** What was done how often, over all processes: for gauges. */
  counters: { name: string; value: number };
  leases: { name: string; holder: string; until: number };
}

export interface JobsTable {
  no: number;
  id: string;
  tenant: string;
  caller: string;
  capability: string;
  params: string;
  labels: string;
  plan: string;
  items: number;
  state: string;
  paused: number;
  generation: number;
  succeeded: number;
  failed: number;
  needs_review: number;
  skipped: number;
  created_at: number;
  workflow_started_at: number | null;
  started_at: number | null;
  finished_at: number | null;
  cancel_at: number | null;
  cancel_by: string | null;
  touched_at: number;
  suspect: number;
  finalize_rounds: number;
  payload_log_lines: number;
  statement: string | null;
  idempotency_key: string | null;
  body_hash: string | null;
  root_no: number;
  cancel_running: number;
  cancel_stopped: number;
  vendor_cancels_sent: number;
  vendor_cancels_failed: number;
  /** The id of the job that it retries. */
  retry_of: string | null;
  deferrals: Generated<number>;
  waits: Generated<number>;
  recoveries: Generated<number>;
  vendor_calls: Generated<number>;
}

export interface ParkedTable {
  job_no: number;
  idx: number;
  kind: string;
  due: number;
  attempts: number;
  deferrals: number;
  deferred_since: number | null;
  /** JSON; of a wait, null. */
  error: string;
  returns: Generated<number>;
  deaths: Generated<number>;
  losses: Generated<number>;
  checks: Generated<number>;
  check_errors: Generated<number>;
}

/**
 * What an item waits for, and the answer that it goes on with: at most one row of each. The answer stays when the next
 * wait is started, since until that one is answered too, every attempt goes on from it.
 */
export interface WaitsTable {
  job_no: number;
  idx: number;
  ordinal: number;
  name: string;
  capability: string;
  remote_id: string | null;
  since: number;
  answered: number;
  answer: string | null;
}

export interface UnitsTable {
  job_no: number;
  generation: number;
  seq: number;
  delivery: string;
  worker: string;
  size: number;
  running: number;
  progress: string | null;
  opened_at: number;
  closed: number;
  /** A supervisor said which of its items had started when its worker died. */
  accounted: Generated<number>;
  /** JSON: the items that have run for longest. */
  slowest: string | null;
}

export interface JournalTable {
  root_no: number;
  subject: string;
  call: string;
  /** Of the first intent. */
  job_no: number;
  kind: string;
  vendor: string | null;
  key: string;
  token: string;
  args_hash: string | null;
  state: string;
  result: string | null;
  remote_id: string | null;
  intent_at: number;
  done_at: number | null;
}

/** The members that a batch with a paid call keeps, all within `lo <= idx < hi`, and the unit that has it. */
export interface BatchesTable {
  job_no: number;
  subject: string;
  members: string;
  lo: number;
  hi: number;
  owner_generation: number;
  owner_seq: number;
}

export interface WorkersTable {
  id: string;
  pool: string;
  capabilities: string;
  ceilings: string;
  memory_mb: number;
  loop_delay_ms: Generated<number>;
  started_at: number;
  beat_at: number;
}

export interface LogTable {
  no: Generated<number>;
  job_no: number;
  at: number;
  level: string;
  source: string;
  message: string;
  item_id: string | null;
  /** What the job's state became with it; null where it did not change. */
  state: string | null;
}

/** Items that the runner gave up on. The rest of what a replay needs is in the item's other rows. */
export interface DeadLettersTable {
  no: Generated<number>;
  job_no: number;
  idx: number;
  code: string;
  at: number;
  /** The id of the job that retries it. */
  replayed_by: string | null;
}
