import { endState, isTerminal, type JobState } from '../../../model/states';
import type { Statement } from '../../../store';
import type { World } from '../world';
import type { EndedJob } from '.';

/** The statement adds up, and so do the job's counts. */
export function checkStatement(world: World, job: EndedJob): void {
  const { row, outcomes } = job;
  const { trace } = world;
  if (!isTerminal(row.state as JobState)) return;
  const statement = JSON.parse(row.statement!) as Statement;
  const count = { succeeded: 0, failed: 0, needs_review: 0, skipped: 0 };
  for (const { outcome } of outcomes) count[outcome as keyof typeof count]++;
  const counted = JSON.stringify(count);
  const { succeeded, failed, needs_review, skipped } = row;
  const disagree = (what: string, found: unknown, expected: unknown): void => {
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      trace.violate(
        'the statement adds up',
        `${row.id} ${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`,
      );
    }
  };
  disagree('counts of the job', { succeeded, failed, needs_review, skipped }, JSON.parse(counted));
  disagree('outcomes', statement.outcomes, JSON.parse(counted));
  disagree('items', statement.items, row.items);
  const attempts = outcomes.reduce((sum, outcome) => sum + outcome.attempts, 0);
  disagree('attempts', statement.attempts, attempts);
  disagree('state', row.state, endState(count));
  checkUsage(world, job, statement);
  checkCounts(world, job, statement);
}

/** What was done how often. A flush whose answer was lost is written again, and what it adds up is counted again. */
function checkCounts(world: World, job: EndedJob, statement: Statement): void {
  const { mark, row } = job;
  const { trace } = world;
  const expect = (what: string, found: number, least: number, most: number): void => {
    if (found < least || found > most) {
      trace.violate('the statement adds up', `${row.id} ${what}: ${found}, not ${least}..${most}`);
    }
  };
  const { deferrals, intents, starts } = mark;
  const isSure = (trace.faults['txAnswerLost'] ?? 0) === 0;
  expect('deferrals', statement.deferrals, deferrals.size, isSure ? deferrals.size : Infinity);
  expect('calls made', statement.vendorCalls.made, intents.size, intents.size);
  expect('waits', statement.waits, starts.size, starts.size);
  expect('recoveries', statement.recoveries, 0, mark.recoveries);
  const calls = [...world.vendor.calls.values()].filter((call) => call.label.startsWith(`${job.index}/`));
  const sends = calls.reduce((sum, call) => sum + call.sends.length, 0);
  expect('calls sent', sends, 0, statement.vendorCalls.made);
  // What nobody knew when it closed may have become known since; the other way round it does not go.
  const open = job.journal.filter((call) => call.kind !== 'once' && call.state !== 'done').length;
  expect('calls open', open, 0, statement.vendorCalls.unanswered);
  const { queuedMs, runningMs, pausedMs, cancellingMs } = statement.phases;
  const took = row.finished_at! - row.created_at;
  expect('phases', queuedMs + runningMs + pausedMs + cancellingMs, took, took);
  // It is asked for before the store takes it: that may be a while later.
  const cancelling = row.cancel_at === null ? 0 : row.finished_at! - row.cancel_at;
  expect('time of the cancel', cancellingMs, 0, cancelling);
}

/**
 * What was used is what payloads said: all that was said in attempts that led to something the store took, and nothing
 * that was not said. An item's key counts once.
 */
function checkUsage(world: World, job: EndedJob, statement: Statement): void {
  const { row, index, mark } = job;
  const closedAt = row.finished_at!;
  const stored = job.usage.filter((event) => event.at <= closedAt).reduce((sum, event) => sum + event.quantity, 0);
  const stated = statement.usage['units'] ?? 0;
  if (stated !== stored) world.trace.violate('the statement adds up', `${row.id} usage: ${stated}, ${stored} stored`);
  const said = new Map<string, number>();
  const sure = new Set<string>();
  for (const run of world.ledger.runs) {
    if (run.job !== index) continue;
    const taken = mark.accepted.some((text) => text.includes(run.name));
    for (const { key, quantity } of run.meters) {
      const name = `i${run.index} ${key}`;
      said.set(name, quantity);
      if (taken) sure.add(name);
    }
  }
  const have = new Map(job.usage.map((event) => [`${event.item_id} ${event.key}`, event.quantity]));
  for (const name of sure) {
    if (have.get(name) !== said.get(name)) world.trace.violate('what was used is recorded', `${row.id} ${name}`);
  }
  for (const [name, quantity] of have) {
    if (said.get(name) !== quantity) world.trace.violate('what was not used is not recorded', `${row.id} ${name}`);
  }
}
