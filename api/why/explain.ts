import { isTerminal } from '../../model/states';
import type { Diagnosis, ItemCounts, JobRecord, ParkedReason, StuckJob, WorkerRow } from '../../store';
import { atTime, counted, forTime, items } from './words';

/** All that an explanation is made of, as it is at `now`, ms since the epoch. */
export interface Situation {
  readonly now: number;
  readonly job: JobRecord;
  readonly counts: ItemCounts;
  readonly diagnosis: Diagnosis;
  /** Workers that are alive. */
  readonly workers: readonly WorkerRow[];
  /** What is wrong with the queue; undefined where it is well. */
  readonly ailment: string | undefined;
  readonly stuck: StuckJob | undefined;
}

/** Why a job is not further, for machines. docs/operations.md says of each what to do. */
export const CAUSES = [
  'ended',
  'stuck',
  'paused',
  'queue_unreachable',
  'no_worker',
  'no_capability',
  'worker_lost',
  'cancelling',
  'not_started',
  'window_full',
  'running',
  'parked',
  'closing',
] as const;
export type Cause = (typeof CAUSES)[number];

export interface Explanation {
  readonly cause: Cause;
  /** What the job waits for now, in one sentence. */
  readonly sentence: string;
}

/** The first of these that applies is what the job waits for: what stops everything goes before what stops a part. */
const RULES: Readonly<Record<Cause, (situation: Situation) => string | undefined>> = {
  ended: ({ job, diagnosis, now }) =>
    isTerminal(job.state)
      ? `It waits for nothing: it ended as ${job.state} ${forTime(now - diagnosis.stateSince)} ago.`
      : undefined,

  stuck: ({ stuck }) =>
    stuck &&
    `It is stuck: when it was to close, items without an outcome were sent again, twice; still without one: ${items(stuck.missing)} (the first: ${stuck.items.slice(0, 3).join(', ')}).`,

  paused: ({ job, diagnosis, counts, now }) =>
    job.state === 'paused'
      ? `It has been paused for ${forTime(now - diagnosis.stateSince)}: nothing is sent until it is resumed${counts.running > 0 ? `; what is in flight goes on (${items(counts.running)})` : ''}.`
      : undefined,

  queue_unreachable: ({ ailment, diagnosis }) =>
    ailment === undefined
      ? undefined
      : `The queue is not well (${ailment}): ${diagnosis.units.length > 0 ? 'units in flight go on, and nothing new is sent' : 'nothing is sent'} until it is back.`,

  no_worker: ({ workers }) =>
    workers.length === 0 ? 'No worker is alive in its pool: nothing runs until one is started.' : undefined,

  no_capability: ({ job, workers }) =>
    workers.some((worker) => worker.capabilities.includes(job.capability))
      ? undefined
      : `No worker alive (of ${workers.length}) has ${job.capability}: nothing runs until one with it is started.`,

  worker_lost: ({ diagnosis, workers, counts }) => {
    const alive = new Set(workers.map((worker) => worker.id));
    const lost = diagnosis.units.filter((unit) => !alive.has(unit.worker));
    if (lost.length === 0 || lost.length < diagnosis.units.length || counts.pending + counts.running === 0)
      return undefined;
    return `The worker that had what was in flight (${counted(lost.length, 'unit')}) is gone: it is sent again when its heartbeat times out.`;
  },

  cancelling: ({ job, diagnosis, counts, now }) =>
    job.state === 'cancelling'
      ? `It has been cancelling for ${forTime(now - diagnosis.stateSince)}: ${counts.running > 0 ? `what is in flight comes to its end (${items(counts.running)}), and ` : ''}open calls are looked up.`
      : undefined,

  not_started: ({ job, diagnosis, now }) =>
    job.startedAt === null
      ? `It was accepted ${forTime(now - job.createdAt)} ago, and its first unit has not reached a worker${diagnosis.units.length === 0 ? '' : ' yet'}.`
      : undefined,

  window_full: (situation) => {
    const { window } = situation.job.plan.tuning;
    const { running } = situation.counts;
    if (running < window) return undefined;
    return `It is at work with ${items(running)} in flight, and its window of ${window} is full${slowest(situation)}.`;
  },

  running: (situation) => {
    const { running, pending } = situation.counts;
    if (running === 0) return undefined;
    return `It is at work: ${items(running)} in flight, ${items(pending)} not started${slowest(situation)}.`;
  },

  parked: ({ diagnosis, counts, now }) => {
    const { total, nextDue, reasons } = diagnosis.parked;
    if (total === 0 || nextDue === null || counts.pending > 0) return undefined;
    const why = reasons.slice(0, 3).map(describe).join(', ');
    const next = nextDue > now ? `until ${atTime(nextDue)} (in ${forTime(nextDue - now)})` : 'and are due now';
    return `What is left is parked (${items(total)}), the first ${next}: ${why}.`;
  },

  closing: ({ counts }) =>
    counts.pending > 0
      ? `The next unit is about to be sent (${items(counts.pending)} not started).`
      : 'Every item has an outcome: it is about to close.',
};

/** What a job waits for now. */
export function explain(situation: Situation): Explanation {
  for (const cause of CAUSES) {
    const sentence = RULES[cause](situation);
    if (sentence !== undefined) return { cause, sentence };
  }
  throw new Error('the last rule always applies');
}

/** Names the items that have run for longest, if any has run for a while. */
function slowest({ diagnosis, now }: Situation): string {
  const named = diagnosis.slowest.slice(0, 3).map((item) => `${item.itemId} for ${forTime(now - item.startedAt)}`);
  return named.length > 0 ? `; the slowest: ${named.join(', ')}` : '';
}

/** As much of a reason as the sentence has. */
const MESSAGE_CHARS = 80;

const KINDS: Readonly<Record<ParkedReason['kind'], string>> = {
  retry: 'to be tried again after',
  defer: 'deferred',
  wait: 'waiting for a vendor',
  answer: 'with an answer to go on with',
  suspect: 'suspected of killing their worker',
};

function describe({ kind, code, message, count }: ParkedReason): string {
  // A deferral says in words what it waits for; its code is the same for most.
  const why = kind === 'retry' ? ` ${code}` : kind === 'defer' ? ` (${message.slice(0, MESSAGE_CHARS)})` : '';
  return `${count.toLocaleString('en-US')} ${KINDS[kind]}${why}`;
}
