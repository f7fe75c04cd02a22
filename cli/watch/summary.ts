import type { ApiClient, ItemJson, JobJson } from '../client/api';
import { errorLine } from '../text/error-line';
import { formatDuration } from '../text/duration';
import { formatCount, plural } from '../text/number';
import { printable } from '../output';
import type { Hint } from '../hint';

const SHOWN_FAILURES = 3;

/**
 * What a job came to, for a person: its state and counts, what failed first, and where to look further.
 * @param hint undefined where the job cannot be asked for any more.
 */
export async function summarize(job: JobJson, api: Pick<ApiClient, 'items'>, hint: Hint | undefined): Promise<string> {
  const lines = [`${job.id} (${job.capability}) ${headline(job)}`];
  const usage = Object.entries(job.statement?.usage ?? {});
  if (usage.length > 0)
    lines.push(`  used: ${usage.map(([name, quantity]) => `${quantity} ${printable(name)}`).join(', ')}`);
  if (job.counts.failed > 0) {
    // The job is at its end; that it cannot be asked for its failures does not change the news.
    const failures = await api.items(job.id, 'failed', SHOWN_FAILURES).catch((): ItemJson[] => []);
    lines.push(...failures.map((item) => `  failed: ${printable(item.id)}: ${errorLine(item.error)}`));
    if (hint) {
      lines.push(`  all that failed: ${hint(`results ${job.id} --outcome failed`)}`);
      lines.push(`  run it again: ${hint(`retry ${job.id}`)}`);
    }
  }
  if (hint && job.counts.needs_review > 0)
    lines.push(`  to review: ${hint(`results ${job.id} --outcome needs_review`)}`);
  if (job.temporal.url) lines.push(`  Temporal: ${job.temporal.url}`);
  return lines.join('\n');
}

/** `completed_with_errors in 3.1 s: 398 succeeded, 1 failed of 406 items`. */
export function headline({ state, counts, items, createdAt, startedAt, finishedAt }: JobJson): string {
  const parts = [`${formatCount(counts.succeeded)} succeeded`];
  if (counts.needs_review > 0) parts.push(`${formatCount(counts.needs_review)} to review`);
  if (counts.failed > 0) parts.push(`${formatCount(counts.failed)} failed`);
  if (counts.skipped > 0) parts.push(`${formatCount(counts.skipped)} skipped`);
  const took =
    finishedAt === null ? '' : ` in ${formatDuration(Date.parse(finishedAt) - Date.parse(startedAt ?? createdAt))}`;
  return `${state}${took}: ${parts.join(', ')} of ${plural(items, 'item')}`;
}
