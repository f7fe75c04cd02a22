import type { OutcomeBody } from '../../../store';
import type { CallRecord } from '../vendor';
import type { World } from '../world';
import type { EndedJob } from '.';

/** The vendor's ledger: nothing is charged twice but where nobody can prevent it, and nothing that is known is left open. */
export function checkCalls(world: World, job: EndedJob): void {
  const { trace } = world;
  const calls = [...world.vendor.calls.values()].filter((call) => call.label.startsWith(`${job.index}/`));
  for (const call of calls) {
    if (call.bookings.length > 1 && !mayBeDouble(call)) {
      trace.violate('nothing is charged twice', `${call.label} (${call.mode}): ${JSON.stringify(call.sends)}`);
    }
  }
  checkJournal(world, job);
  checkFailures(world, job, calls);
  checkWaits(world, job);
}

/** Codes of failures that no attempt ended with: what an earlier attempt left open is not looked at then. */
const OF_NO_ATTEMPT = [
  ...['deferral_limit', 'deferral_timeout', 'shutdown_limit', 'killed'],
  ...['wait_expired', 'wait_timeout', 'wait_check_failed', 'wait_unknown_id'],
];

/** An item whose last attempt made a call that was never answered has not simply failed. */
function checkFailures(world: World, job: EndedJob, calls: readonly CallRecord[]): void {
  for (const { idx, outcome, body } of job.outcomes) {
    const { error } = JSON.parse(body) as OutcomeBody;
    if (error && OF_NO_ATTEMPT.includes(error.code)) continue;
    const last = world.ledger.runsOf(job.index, idx).at(-1);
    if (outcome !== 'failed' || !last || last.kind === 'batch') continue;
    for (const call of calls) {
      if (!call.label.startsWith(`${job.index}/${idx}/`) || call.mode === 'idempotent' || call.mode === 'both')
        continue;
      const send = call.sends.at(-1);
      if (send?.heard !== 'none' || send.at < last.startedAt || send.process !== last.process.name) continue;
      const entry = job.journal.find((row) => row.key === call.key);
      if (entry && entry.state !== 'done') world.trace.violate('a failure hides no charge', call.label);
    }
  }
}

/** Where nothing has failed for as long as anything lasts, a cancel reaches the vendor of all that is waited for. */
const QUIET_MS = 60_000;

function checkWaits(world: World, { row, index, outcomes, journal }: EndedJob): void {
  if (row.cancel_at === null || world.faults.lastAt > row.cancel_at - QUIET_MS) return;
  if (world.trace.faults['pace terminated']) return;
  for (const wait of world.vendor.waits.values()) {
    const [job, item] = wait.label.split('/');
    const outcome = outcomes.find((one) => one.idx === Number(item));
    if (Number(job) !== index || outcome?.outcome !== 'skipped' || wait.cancels > 0) continue;
    const entry = journal.find(({ result }) => result === JSON.stringify(wait.remoteId));
    const isOpen = wait.told === null || wait.told === 'pending' || wait.told === 'unknown';
    if (isOpen && (entry?.done_at ?? Infinity) < row.cancel_at) {
      world.trace.violate('a cancel stops what is waited for', wait.label);
    }
  }
}

/**
 * Two tries of one call may overlap where a worker was thought dead and lives, or an attempt ran out of time: the vendor
 * is asked before the first one has reached it. Each booking but the first needs such a moment.
 */
function mayBeDouble(call: CallRecord): boolean {
  if (call.mode !== 'reconcile') return false;
  const booked = call.sends.filter((send) => send.bookedAt !== null).sort((a, b) => a.intent - b.intent);
  return booked.slice(1).every((send, i) => {
    const before = booked[i]!;
    return call.asked.some(({ said, at }) => said === 'absent' && at <= before.bookedAt! && at <= send.at);
  });
}

/** An item that succeeded leaves no call open, unless its payload went on without the answer. */
function checkJournal(world: World, job: EndedJob): void {
  const script = world.vendor.calls;
  for (const { subject, call, state, key } of job.journal) {
    const index = /^i:i(\d+)$/.exec(subject)?.[1];
    if (state !== 'intent' || index === undefined) continue;
    const outcome = job.outcomes.find((row) => row.idx === Number(index));
    if (outcome?.outcome !== 'succeeded') continue;
    const record = [...script.values()].find((one) => one.key === key);
    if (record && world.swallowed.has(record.label)) continue;
    if (call.startsWith('wait:')) continue;
    world.trace.violate('an item that succeeded leaves no call open', `${job.index}/${index} ${call}`);
  }
}
