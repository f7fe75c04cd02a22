import type { WorkflowTimings } from './types';

/** What a unit may take beside its budget and its last item: reading, the last flush, a slow store, ms. */
const GRACE_MS = 30_000;

/** Timeouts nest: an item's lies within its unit's budget and grace, and those within Temporal's start-to-close. */
export function workflowTimings(settings: {
  unitBudgetMs: number;
  itemTimeoutMs: number;
  heartbeatTimeoutMs: number;
}): WorkflowTimings {
  return {
    heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
    startToCloseMs: settings.unitBudgetMs + settings.itemTimeoutMs + GRACE_MS,
  };
}
