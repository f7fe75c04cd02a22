/**
 * What a job waits for now.
 *
 *   explain.ts  the sentence, from what is known
 *   words.ts    quantities in words
 */
import { WORKER_SILENT_MS } from '../../queue';
import type { JobRecord } from '../../store';
import type { ApiContext } from '../context';
import type { WhyJson } from '../schemas';
import { explain, type Situation } from './explain';

export { CAUSES } from './explain';

/** Jobs that are stuck at once, of which more are not looked at. */
const STUCK_LIMIT = 200;

/** Reads what is known of a job, and says what it waits for. All of it but the queue's health is from the store. */
export async function why({ runtime, queue, lifecycle }: ApiContext, job: JobRecord): Promise<WhyJson> {
  const { store } = runtime;
  const now = lifecycle.now();
  const situation: Situation = {
    now,
    job,
    counts: await store.counts(job),
    diagnosis: await store.diagnose(job),
    workers: await store.workers(now - WORKER_SILENT_MS),
    ailment: await queue.ailment(),
    stuck: (await store.stuckJobs(STUCK_LIMIT)).find((stuck) => stuck.job.no === job.no),
  };
  return { ...explain(situation), facts: factsOf(situation) };
}

const iso = (at: number): string => new Date(at).toISOString();

function factsOf({ job, counts, diagnosis, workers, ailment, stuck }: Situation): WhyJson['facts'] {
  const { units, slowest, parked } = diagnosis;
  return {
    state: job.state,
    stateSince: iso(diagnosis.stateSince),
    counts: { ...counts },
    window: job.plan.tuning.window,
    units: units.map((unit) => ({ ...unit, openedAt: iso(unit.openedAt) })),
    slowest: slowest.map(({ itemId, startedAt, worker }) => ({ item: itemId, startedAt: iso(startedAt), worker })),
    parked: {
      total: parked.total,
      nextDue: parked.nextDue === null ? null : iso(parked.nextDue),
      lookedAt: parked.lookedAt,
      reasons: parked.reasons.map((reason) => ({ ...reason, due: iso(reason.due) })),
    },
    workers: {
      alive: workers.length,
      withCapability: workers.filter((worker) => worker.capabilities.includes(job.capability)).length,
    },
    queue: ailment ?? null,
    missing: stuck ? { count: stuck.missing, items: [...stuck.items] } : null,
  };
}
