import type { Plan } from '../../../model/plan';
import type { OutcomeBody } from '../../../store';
import type { Run } from '../ledger';
import type { OutcomeRow } from '../snapshots';
import type { World } from '../world';
import type { EndedJob } from '.';

/** Every item has one outcome, and what payloads did explains it. */
export function checkItems(world: World, job: EndedJob): void {
  const { row, outcomes } = job;
  const { trace } = world;
  if (outcomes.length !== row.items) {
    trace.violate('every item has one outcome', `${outcomes.length} of ${row.items} in ${row.id}`);
  }
  const plan = JSON.parse(row.plan) as Plan;
  for (const outcome of outcomes) {
    const item = {
      outcome,
      body: JSON.parse(outcome.body) as OutcomeBody,
      runs: world.ledger.runsOf(job.index, outcome.idx),
    };
    const why = explain(world, job, plan, item);
    if (why)
      trace.violate(why, `${job.index}/${outcome.idx}: ${outcome.outcome} after ${outcome.attempts}: ${outcome.body}`);
  }
}

interface EndedItem {
  readonly outcome: OutcomeRow;
  readonly body: OutcomeBody;
  readonly runs: readonly Run[];
}

/** The rule that the item's outcome breaks; undefined where it breaks none. */
function explain(world: World, job: EndedJob, plan: Plan, item: EndedItem): string | undefined {
  const { outcome, runs } = item;
  if (outcome.attempts > plan.maxAttempts) return 'attempts keep to their limit';
  const taken = job.mark.ended.get(outcome.idx);
  const cancelled = job.row.cancel_at !== null;
  if (taken && taken.outcome !== outcome.outcome && !cancelled) return 'the first outcome that the store took stays';
  // A wait that fails counts as an attempt that no payload saw the end of.
  const waits = [...world.vendor.waits.values()].filter((wait) =>
    wait.label.startsWith(`${job.index}/${outcome.idx}/`),
  );
  if (outcome.attempts > runs.length + waits.length) return 'no attempt is counted that was not made';
  if (world.plan.calm && !cancelled && !areCounted(world, job, plan, item))
    return 'attempts are those that ended, each once';
  switch (outcome.outcome) {
    case 'skipped':
      if (!cancelled || item.body.reason !== 'cancelled') return 'items are skipped by a cancel only';
      return hasOpenCall(job, outcome.idx) ? 'no item is skipped with a call open' : undefined;
    case 'succeeded':
      return explainSuccess(job, item);
    case 'needs_review':
      return explainReview(world, job, item);
    default:
      // An answer that a dead worker had in hand is asked for again, and by then it may be too late.
      return explainFailure(plan, item, world.plan.calm && waits.at(-1)?.told === 'ready');
  }
}

/** Whether, with no fault around, exactly the runs that ended otherwise than by a deferral were counted. */
function areCounted(world: World, job: EndedJob, plan: Plan, { outcome, body, runs }: EndedItem): boolean {
  const isDeferral = (run: Run): boolean => run.ended === 'defer' || run.code === 'Defer';
  // What its time-out made of such a run, and the start of a wait of another, cannot be told from here.
  const isUnclear = runs.some(
    (run) => run.ended === 'wait' || (isDeferral(run) && run.endedAt! - run.startedAt >= plan.itemTimeoutMs),
  );
  const uncounted = ['input_invalid', 'deferral_limit', 'deferral_timeout'].includes(body.error?.code ?? '');
  // That ends an attempt whatever the payload makes of it.
  const isMarked =
    body.reason === 'unknown_charge' ||
    [...world.swallowed].some((label) => label.startsWith(`${job.index}/${outcome.idx}/`));
  if (isUnclear || uncounted || isMarked) return true;
  // A batch that keeps its members is formed of all of them, also of those that have ended.
  if (runs.some((run) => run.kind === 'batch'))
    return outcome.attempts <= runs.filter((run) => !isDeferral(run)).length;
  return outcome.attempts === runs.filter((run) => !isDeferral(run)).length;
}

/** How a run ends that returns a result. A batch knows no waits. */
const RETURNING = ['return', 'wait', 'leave', 'hang', 'hang_deaf'];

function explainSuccess({ index }: EndedJob, { outcome, body, runs }: EndedItem): string | undefined {
  const result = body.result as { by?: string; calls?: Record<string, string> } | undefined;
  const run = runs.find((one) => one.name === result?.by);
  if (!RETURNING.some((ending) => ending === run?.ended)) return 'a result is one that a run returned';
  const foreign = Object.entries(result?.calls ?? {}).find(([, text]) => {
    const [job, subject = ''] = text.split('/');
    const members = subject.startsWith('b') ? subject.slice(1).split('+') : [subject];
    return Number(job) !== index || !members.includes(String(outcome.idx));
  });
  return foreign ? 'a call gives its own result' : undefined;
}

function explainReview(world: World, job: EndedJob, { outcome, body, runs }: EndedItem): string | undefined {
  if (body.reason !== 'unknown_charge') {
    return runs.some((run) => run.ended === 'review') ? undefined : 'a review is one that a run asked for';
  }
  // The answer may have come from another delivery while this was being decided, or written.
  const decidedFrom = Math.min(outcome.at, runs.at(-1)?.startedAt ?? Infinity);
  const open = job.journal.some((call) => {
    const isOpen = call.kind !== 'once' && (call.state !== 'done' || (call.done_at ?? 0) >= decidedFrom);
    return isOpen && isOf(call.subject, job, outcome.idx);
  });
  return open || isElsewhere(world, body, runs, decidedFrom)
    ? undefined
    : 'a charge is unknown only where a call has no answer';
}

/** Whether another process was about to make the call as well, or it was said later that nothing was done. */
function isElsewhere(world: World, body: OutcomeBody, runs: readonly Run[], decidedFrom: number): boolean {
  const { calls = [] } = (body.draft ?? {}) as { calls?: { key: string }[] };
  const last = runs.at(-1)?.process;
  const { intents, withdrawnAt } = world.observer;
  return calls.some(
    ({ key }) =>
      (withdrawnAt.get(key) ?? 0) >= decidedFrom || intents.get(key)?.some((intent) => intent.process !== last),
  );
}

/** Whether it has a paid call of its own of which nobody knows what came. */
function hasOpenCall(job: EndedJob, index: number): boolean {
  return job.journal.some((call) => call.kind !== 'once' && call.state !== 'done' && call.subject === `i:i${index}`);
}

/** Whether a call is the item's own, or that of a batch: those are named by their members' hash. */
function isOf(subject: string, job: EndedJob, index: number): boolean {
  return subject === `i:i${index}` || (subject.startsWith('b:') && job.row.id !== '');
}

/** Codes with which an item fails at once, and how a run ends that explains them. */
const AT_ONCE: Readonly<Record<string, (run: Run) => boolean>> = {
  sim_reject: (run) => run.ended === 'reject',
  // The start of a wait follows the run that asked for it.
  sim_vendor_reject: (run) => run.code === 'sim_vendor_reject' || run.ended === 'wait',
  result_invalid: (run) => run.ended === 'misfit',
  deferral_limit: () => true,
  deferral_timeout: () => true,
  shutdown_limit: () => true,
  killed: () => true,
};

/** Codes of waits, and of what an item's input is: no run ends with them. */
const WITHOUT_RUN = ['wait_expired', 'wait_timeout', 'wait_check_failed', 'wait_unknown_id'];

function explainFailure(plan: Plan, { outcome, body, runs }: EndedItem, isAnswered: boolean): string | undefined {
  const code = body.error?.code ?? '';
  if (code === 'input_invalid') return outcome.attempts === 0 ? undefined : 'a misfit has no attempt';
  if (code === 'wait_timeout' && isAnswered) return 'an answer is not waited for in vain';
  if (WITHOUT_RUN.includes(code)) return undefined;
  const cause = AT_ONCE[code];
  if (cause) return runs.some(cause) ? undefined : 'a failure is explained by a run';
  if (outcome.attempts < plan.maxAttempts) return 'an item fails after its last attempt only';
  return undefined;
}
