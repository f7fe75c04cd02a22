/** The deterministic name of a unit: `{job}/g{generation}/u{seq}`. */
export function unitName(jobId: string, generation: number, seq: number): string {
  return `${jobId}/g${generation}/u${seq}`;
}

/**
 * The task queue of a pool. It carries the store's id, so that two deployments on one namespace never meet.
 * @param storeId the store's UUID; its first eight digits are used.
 */
export function taskQueueName(environment: string, storeId: string, pool: string): string {
  return `itemwise-${environment}-${storeId.slice(0, 8)}-${pool}`;
}

export const DEFAULT_POOL = 'default';
