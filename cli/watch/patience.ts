import { Unreachable } from '../failure';
import { ApiProblem } from '../client/problem';
import type { Clock } from '../session';
import { formatDuration } from '../text/duration';

/** How long an API may be away before a command gives up, ms: longer than a restart takes. */
export const PATIENCE_MS = 60_000;
const DELAY = { firstMs: 500, mostMs: 8_000 };

export interface Patience {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told when the API goes away and when it is back. */
  readonly notice: (message: string) => void;
}

/** Does `work`, and again while the API is away. Other errors, and the last one when the time is over, are thrown. */
export async function patiently<T>(work: () => Promise<T>, { clock, signal, notice }: Patience): Promise<T> {
  let awaySince: number | undefined;
  for (let delay = DELAY.firstMs; ; delay = Math.min(delay * 2, DELAY.mostMs)) {
    try {
      const result = await work();
      if (awaySince !== undefined) notice(`the API is back, after ${formatDuration(clock.now() - awaySince)}`);
      return result;
    } catch (error) {
      if (!isPassing(error) || signal.aborted) throw error;
      if (awaySince === undefined) {
        awaySince = clock.now();
        notice(`${error.message}; trying again for ${formatDuration(PATIENCE_MS)}`);
      }
      const left = awaySince + PATIENCE_MS - clock.now();
      if (left <= 0) throw error;
      await clock.sleep(Math.min(delay, left), signal);
    }
  }
}

function isPassing(error: unknown): error is Error {
  return error instanceof Unreachable || (error instanceof ApiProblem && error.passing);
}
