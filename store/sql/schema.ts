import type { Generated } from 'kysely';

/** The tables, as both SQL adapters have them. JSON is text; times are ms since the epoch; flags are 0 or 1. */
export interface Schema {
  meta: { key: string; value: string };
  uploads: { no: Generated<number>; tenant: string; items: number; touched_at: number };
  jobs: JobsTable;
  job_labels: { job_no: number; key: string; value: string };
  items: { job_no: number; idx: number; id: string; input: string };
  outcomes: { job_no: number; idx: number; outcome: string; attempts: number; body: string; at: number };
  parked: ParkedTable;
  units: UnitsTable;
  usage: { root_no: number; item_id: string; key: string; name: string; quantity: number; job_no: number; at: number };
  workers: WorkersTable;
  job_log: LogTable;
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
}

export interface ParkedTable {
  job_no: number;
  idx: number;
  kind: string;
  due: number;
  attempts: number;
  deferrals: number;
  deferred_since: number | null;
  error: string;
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
}

export interface WorkersTable {
  id: string;
  pool: string;
  capabilities: string;
  ceilings: string;
  memory_mb: number;
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
}
