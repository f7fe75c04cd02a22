import { isTerminal } from '../../model/states';
import type { ApiClient, JobJson } from '../client/api';
import type { Clock } from '../session';
import { Interrupted } from '../failure';
import { patiently } from './patience';
import type { Progress } from './progress';

/** How often the progress is looked at. The end of the job is known at once: the API answers then. */
const EVERY_S = 1;

export interface FollowOptions {
  readonly api: ApiClient;
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
  const { api, clock, progress, signal } = options;
  const ask = (id: string, wait?: number): Promise<JobJson> =>
    patiently(() => api.job(id, wait), { clock, signal, notice: (message) => progress.notice(message) });
  try {
    let job = typeof from === 'string' ? await ask(from) : from;
    for (;;) {
      progress.update(job);
      if (isTerminal(job.state)) return job;
      const askedAt = clock.now();
      job = await ask(job.id, EVERY_S);
      // An API that does not wait is not to be asked without a pause.
      const early = askedAt + EVERY_S * 1_000 - clock.now();
      if (early > 0 && !isTerminal(job.state)) await clock.sleep(early, signal);
      if (signal.aborted) throw new Interrupted();
    }
  } finally {
    progress.end();
  }
}
