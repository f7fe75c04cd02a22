import assert from 'node:assert/strict';
import type { ItemJson, JobJson } from '../../api';
import { endState, OUTCOMES, type OutcomeCounts } from '../../model/states';
import type { Charge } from '../support/fixture-vendor/ledger';
import type { FixtureVendor } from '../support/fixture-vendor/vendor';
import type { Service } from '../support/service';

/** What was found when jobs were counted after a scenario. */
export interface Account {
  readonly items: number;
  readonly outcomes: OutcomeCounts;
  readonly attempts: number;
  readonly charges: number;
  /** Keys and orders that the vendor has booked more than once. */
  readonly chargedTwice: number;
}

const NOTHING: OutcomeCounts = { succeeded: 0, failed: 0, needs_review: 0, skipped: 0 };

/**
 * Holds jobs to what is promised whatever died: every item has one outcome, the statement adds up, and the vendor's own
 * ledger has nothing twice.
 * @throws AssertionError that says what does not.
 */
export async function account(service: Service, vendor: FixtureVendor, jobs: readonly string[]): Promise<Account> {
  let total: Account = { items: 0, outcomes: NOTHING, attempts: 0, charges: 0, chargedTwice: 0 };
  let orders: string[] = [];
  for (const id of jobs) {
    const job = await service.get(`/v1/jobs/${id}`);
    const results = await service.results(id);
    checkJob(job, results);
    orders = orders.concat(await chargedOrders(job, results));
    total = add(total, job);
  }
  const { charges } = vendor.ledger;
  const chargedTwice = new Set([...twice(charges.map(({ key }) => key)), ...twice(charges.map(orderOf))]);
  assert.deepEqual([...chargedTwice], [], 'charged twice, by the ledger of the vendor');
  const booked = new Set(vendor.ledger.charges.map(({ key }) => key));
  assert.deepEqual(
    orders.filter((key) => !booked.has(key)),
    [],
    'succeeded as charged, and unknown to the vendor',
  );
  return { ...total, charges: charges.length, chargedTwice: chargedTwice.size };
}

/** Every item once, with an outcome; state, counts and statement say the same as the items. */
function checkJob(job: JobJson, results: readonly ItemJson[]): void {
  assert(job.finishedAt, `job ${job.id} has ended`);
  assert.equal(results.length, job.items, 'an outcome for each item');
  assert.equal(new Set(results.map((item) => item.id)).size, job.items, 'and one only');
  const tally: Record<string, number> = { ...NOTHING };
  for (const { state } of results) tally[state] = (tally[state] ?? 0) + 1;
  assert.deepEqual(Object.keys(tally).sort(), [...OUTCOMES].sort(), 'nothing but outcomes');
  const { statement } = job;
  assert(statement, 'a job that has ended has a statement');
  assert.deepEqual(statement.outcomes, tally, 'the statement adds up');
  assert.deepEqual(job.counts, { pending: 0, running: 0, waiting: 0, deferred: 0, ...tally }, 'the counts add up');
  assert.equal(statement.items, job.items, 'items of the statement');
  assert.equal(
    statement.attempts,
    results.reduce((sum, item) => sum + item.attempts, 0),
    'the attempts add up',
  );
  assert.equal(job.state, endState(statement.outcomes), 'the state follows from the outcomes');
}

/** The keys under which succeeded items of a paid job say that they were charged; metered once each. */
async function chargedOrders({ statement, capability }: JobJson, results: readonly ItemJson[]): Promise<string[]> {
  if (!capability.startsWith('test.order')) return [];
  const keys = results
    .filter((item) => item.state === 'succeeded')
    .map((item) => (item.result as { charged: string }).charged);
  assert.deepEqual(twice(keys), [], 'a key belongs to one item');
  const { charges = 0 } = statement!.usage;
  assert(charges >= keys.length, `${charges} metered, ${keys.length} succeeded: what was paid for is metered`);
  assert(charges <= results.length, `${charges} metered of ${results.length} items: nothing is metered twice`);
  return keys;
}

function orderOf({ key, body }: Charge): string {
  return (body as { order?: string } | undefined)?.order ?? key;
}

function twice(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(name).size);
}

function add(total: Account, { items, statement }: JobJson): Account {
  const outcomes = Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, total.outcomes[outcome] + statement!.outcomes[outcome]]),
  ) as unknown as OutcomeCounts;
  return { ...total, items: total.items + items, outcomes, attempts: total.attempts + statement!.attempts };
}
