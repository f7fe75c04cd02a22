/** What a job can be, in the words of the store and of the HTTP surface. */
export const JOB_STATES = [
  'accepted',
  'expanding',
  'running',
  'paused',
  'cancelling',
  'succeeded',
  'completed_with_errors',
  'failed',
  'cancelled',
] as const;
export type JobState = (typeof JOB_STATES)[number];

export const OUTCOMES = ['succeeded', 'failed', 'needs_review', 'skipped'] as const;
/** How an item ended; written once. */
export type Outcome = (typeof OUTCOMES)[number];

/**
 * Why a job's state changes, and from which states to which. A terminal state has no way out.
 * `docs/states.md` draws this table; a test holds the drawing to it.
 */
export const JOB_TRANSITIONS: Readonly<
  Record<string, { readonly from: readonly JobState[]; readonly to: readonly JobState[] }>
> = {
  /** The job's workflow was started. */
  start: { from: ['accepted'], to: ['expanding'] },
  /** The first unit reached a worker. */
  firstUnit: { from: ['accepted', 'expanding'], to: ['running'] },
  pause: { from: ['accepted', 'expanding', 'running'], to: ['paused'] },
  resume: { from: ['paused'], to: ['running'] },
  cancel: { from: ['accepted', 'expanding', 'running', 'paused'], to: ['cancelling'] },
  finish: {
    from: ['accepted', 'expanding', 'running', 'paused', 'cancelling'],
    to: ['succeeded', 'completed_with_errors', 'failed', 'cancelled'],
  },
};

export const ITEM_STATES = ['pending', 'running', 'waiting', 'deferred', ...OUTCOMES] as const;
export type ItemState = (typeof ITEM_STATES)[number];

/**
 * Why an item's state changes, and from which states to which; an outcome has no way out. `docs/states.md` draws this
 * table; a test holds the drawing to it.
 */
export const ITEM_TRANSITIONS: Readonly<
  Record<string, { readonly from: readonly ItemState[]; readonly to: readonly ItemState[] }>
> = {
  /** A unit brings it to a worker. */
  deliver: { from: ['pending', 'waiting', 'deferred'], to: ['running'] },
  /** Its attempt was broken off, and counts for nothing. */
  giveBack: { from: ['running'], to: ['pending'] },
  retry: { from: ['running'], to: ['waiting'] },
  defer: { from: ['running'], to: ['deferred'] },
  wait: { from: ['running'], to: ['waiting'] },
  /** It had started in a worker that died. */
  suspect: { from: ['running'], to: ['waiting'] },
  /** Its vendor was asked about it. */
  check: { from: ['waiting'], to: ['waiting'] },
  finish: { from: ['running'], to: ['succeeded', 'needs_review', 'failed'] },
  /** Its input does not fit. */
  refuse: { from: ['pending'], to: ['failed'] },
  /** It waited too long, was deferred too often, or died alone. */
  giveUp: { from: ['waiting', 'deferred'], to: ['failed'] },
  cancel: { from: ['pending', 'waiting', 'deferred'], to: ['skipped'] },
  /** It was cancelled with a paid call open. */
  unknownCharge: { from: ['pending', 'waiting', 'deferred'], to: ['needs_review'] },
};

const TERMINAL: readonly JobState[] = ['succeeded', 'completed_with_errors', 'failed', 'cancelled'];

export function isTerminal(state: JobState): boolean {
  return TERMINAL.includes(state);
}

export type OutcomeCounts = Readonly<Record<Outcome, number>>;

/**
 * The state a job closes with, from its counts by outcome. Only a cancel skips items.
 * needs_review is no error.
 */
export function endState(counts: OutcomeCounts): JobState {
  if (counts.skipped > 0) return 'cancelled';
  if (counts.failed === 0) return 'succeeded';
  return counts.succeeded + counts.needs_review === 0 ? 'failed' : 'completed_with_errors';
}
