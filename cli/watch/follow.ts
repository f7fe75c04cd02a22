import { isTerminal } from '../../model/states';
import type { ApiClient, JobJson } from '../client/api';
import type { Clock } from '../session';
import { UsageError } from '../failure';
import { followEvents } from './events';
import type { Progress } from './progress';

export interface FollowOptions {
  readonly api: Pick<ApiClient, 'events'>;
  readonly clock: Clock;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/**
 * Follows a job to its end, over outages of the API.
 * @param from the job or its id.
 * @throws Interrupted when `signal` is aborted: the job goes on without us.
 */
export async function follow(from: JobJson | string, options: FollowOptions): Promise<JobJson> {
  const { progress } = options;
  let job = typeof from === 'string' ? undefined : from;
  const id = typeof from === 'string' ? from : from.id;
  try {
    if (job) progress.update(job);
    if (job && isTerminal(job.state)) return job;
    const events = followEvents(id, { ...options, notice: (message) => progress.notice(message) });
    for await (const event of events) {
      if (event.kind === 'deleted') break;
      if (event.kind === 'job' || event.kind === 'end') job = event.job;
      else if (event.kind === 'progress' && job) job = { ...job, ...event.progress };
      else continue;
      progress.update(job);
      if (event.kind === 'end') return job;
    }
    throw new UsageError(`the job ${id} was deleted while it was followed`);
  } finally {
    progress.end();
  }
}
