import { codedError } from '../shared/errors';

/**
 * Runs `work` with a signal that aborts with `outer`, or after `ms`. Whichever comes first is what this rejects with:
 * the reason of `outer` as it is, or an error with code `timeout`.
 */
export async function withDeadline<T>(
  outer: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const pass = (): void => controller.abort(outer.reason);
  outer.addEventListener('abort', pass, { once: true });
  const timer = setTimeout(() => controller.abort(codedError('timeout', `not done within ${ms} ms`)), ms);
  try {
    return await work(signal);
  } catch (error) {
    // What the work made of the abort (a broken stream, a wrapped error) says less than its reason.
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', pass);
  }
}
