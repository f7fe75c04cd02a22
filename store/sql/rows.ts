import type { Selectable } from 'kysely';
import type { ItemHistory } from '../../model/attempts';
import type { Plan } from '../../model/plan';
import type { JobState } from '../../model/states';
import type { CancelReceipt, JobRecord, Statement } from '../port';
import type { Schema } from './schema';

export type JobRow = Selectable<Schema['jobs']>;

/** PostgreSQL gives bigint as text; both give numbers here. */
function optional(value: number | string | null): number | null {
  return value === null ? null : Number(value);
}

export function toJob(row: JobRow): JobRecord {
  return {
    no: Number(row.no),
    id: row.id,
    tenant: row.tenant,
    caller: row.caller,
    capability: row.capability,
    rootNo: Number(row.root_no),
    retryOf: row.retry_of,
    params: JSON.parse(row.params) as unknown,
    labels: JSON.parse(row.labels) as Record<string, string>,
    plan: JSON.parse(row.plan) as Plan,
    items: row.items,
    state: row.state as JobState,
    paused: row.paused === 1,
    generation: row.generation,
    outcomes: {
      succeeded: row.succeeded,
      failed: row.failed,
      needs_review: row.needs_review,
      skipped: row.skipped,
    },
    createdAt: Number(row.created_at),
    workflowStartedAt: optional(row.workflow_started_at),
    startedAt: optional(row.started_at),
    finishedAt: optional(row.finished_at),
    cancel: toReceipt(row),
    finalizeRounds: row.finalize_rounds,
    statement: row.statement === null ? null : (JSON.parse(row.statement) as Statement),
  };
}

function toReceipt(row: JobRow): CancelReceipt | null {
  if (row.cancel_at === null) return null;
  return {
    at: Number(row.cancel_at),
    by: row.cancel_by ?? '',
    running: row.cancel_running,
    stopped: row.cancel_stopped,
    vendorCancels: { sent: row.vendor_cancels_sent, failed: row.vendor_cancels_failed },
  };
}

/** The columns of `parked` that hold an item's history; null where it is not parked. */
export interface HistoryRow {
  readonly attempts: number | null;
  readonly deferrals: number | null;
  readonly deferred_since: number | null;
  readonly returns: number | null;
}

export function toHistory(row: HistoryRow): ItemHistory {
  return {
    attempts: row.attempts ?? 0,
    deferrals: row.deferrals ?? 0,
    deferredSince: optional(row.deferred_since),
    returns: row.returns ?? 0,
  };
}
