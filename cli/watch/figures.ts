import type { JobJson } from '../client/api';
import { formatCount } from '../text/number';

interface Figures {
  readonly done: number;
  readonly text: string;
}

/** How much of a job is done, and what is said beside it. */
export function figures({ counts, state }: JobJson): Figures {
  const { succeeded, failed, needs_review: review, skipped, waiting, deferred } = counts;
  const parts: [number, string][] = [
    [succeeded, 'ok'],
    [failed, 'failed'],
    [review, 'to review'],
    [skipped, 'skipped'],
    [waiting + deferred, 'waiting'],
  ];
  const shown = parts
    .filter(([count], at) => at === 0 || count > 0)
    .map(([count, name]) => `${formatCount(count)} ${name}`);
  return { done: succeeded + failed + review + skipped, text: `${state}: ${shown.join(', ')}` };
}
