import { isTerminal } from '../model/states';
import type { JobRecord, Store } from '../store';

/** A change of the store may go unseen; the job is read again after this long, ms. */
const AT_LEAST_MS = 1_000;

/**
 * The job when it is terminal, or as it is when the time is over or `signal` is aborted. Reads the job again only when
 * the store has changed.
 */
export async function waitForEnd(
  store: Store,
  job: JobRecord,
  waitMs: number,
  signal: AbortSignal,
): Promise<JobRecord> {
  const until = Date.now() + waitMs;
  let current = job;
  let changed = false;
  let wake: (() => void) | undefined;
  const unsubscribe = store.onChange(() => {
    changed = true;
    wake?.();
  });
  const onAbort = (): void => wake?.();
  signal.addEventListener('abort', onAbort);
  try {
    for (;;) {
      changed = false;
      current = (await store.jobByNo(job.no)) ?? current;
      const left = until - Date.now();
      if (isTerminal(current.state) || left <= 0 || signal.aborted) return current;
      // Changes that came while the job was read are not waited for.
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, Math.min(left, AT_LEAST_MS)).unref();
        });
      }
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', onAbort);
  }
}
