import type { JobQueue } from '../queue';
import type { CancelReceipt, ItemCounts, ItemView, JobRecord, Statement } from '../store';
import type { ItemJson, JobJson } from './schemas';

function iso(at: number): string {
  return new Date(at).toISOString();
}

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}

export function jobJson(job: JobRecord, counts: ItemCounts, queue: JobQueue): JobJson {
  const { pending, running, waiting, deferred, succeeded, failed, needs_review, skipped } = counts;
  return {
    id: job.id,
    capability: job.capability,
    retryOf: job.retryOf,
    state: job.state,
    items: job.items,
    counts: { pending, running, waiting, deferred, succeeded, failed, needs_review, skipped },
    labels: { ...job.labels },
    createdAt: iso(job.createdAt),
    startedAt: isoOrNull(job.startedAt),
    finishedAt: isoOrNull(job.finishedAt),
    temporal: { workflowId: job.id, url: queue.url(job.id) ?? null },
    ...(job.cancel && { cancel: cancelJson(job.cancel, skipped) }),
    ...(job.statement && { statement: statementJson(job.statement) }),
  };
}

function statementJson(statement: Statement): JobJson['statement'] {
  const { items, outcomes, attempts, deferrals, waits, recoveries, vendorCalls, usage, phases } = statement;
  return {
    ...{ items, outcomes: { ...outcomes }, attempts, deferrals, waits, recoveries },
    ...{ vendorCalls: { ...vendorCalls }, usage: { ...usage }, phases: { ...phases } },
  };
}

function cancelJson(receipt: CancelReceipt, skipped: number): JobJson['cancel'] {
  const { at, by, running, stopped, vendorCancels } = receipt;
  return { at: iso(at), by, skipped, running, stopped, vendorCancels: { ...vendorCancels } };
}

export function itemJson(item: ItemView): ItemJson {
  const { parked, wait } = item;
  return {
    id: item.id,
    index: item.index,
    state: item.state,
    attempts: item.attempts,
    ...(item.body as Pick<ItemJson, 'result' | 'error' | 'reason' | 'draft' | 'remoteId'>),
    finishedAt: isoOrNull(item.finishedAt),
    ...(parked && {
      parked: { ...parked, due: iso(parked.due), error: parked.error as ItemJson['error'] & object },
    }),
    ...(wait && { wait: { ...wait, since: iso(wait.since) } }),
    ...(item.progress && { progress: item.progress }),
  };
}
