import type { Payload } from '../contract';
import { viewItems, withStore, workerOf, type JobOptions, type TestItem } from './job';
import { Ledger, type ItemReport } from './report';
import { runRounds } from './rounds';

export interface RunPayloadOptions extends JobOptions {
  /** How often an item may be run; the waits in between are skipped. Default 1. */
  readonly attempts?: number;
  /** Aborted: the job is cancelled. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a payload over items as a worker would, with no server: inputs are checked, results too, time-outs and limits
 * hold, and every item ends in what a job would say of it. The reports come in the order of the items.
 *
 * ```ts
 * const [report] = await runPayload(payload, [{ id: 'a', input: { url } }], { params: { timeout: '1s' } });
 * expect(report).toMatchObject({ state: 'succeeded', result: { status: 200 } });
 * ```
 *
 * @throws TypeError when the params or the config do not fit the payload's schemas, or an input is not JSON.
 */
export function runPayload(
  payload: Payload,
  items: readonly TestItem[],
  options: RunPayloadOptions = {},
): Promise<ItemReport[]> {
  return withStore(payload, options, async (submit) => {
    const job = await submit(items);
    const ledger = new Ledger();
    const activities = workerOf(job, options.seed, { store: ledger.over(job.store) });
    const { attempts = 1, signal } = options;
    await runRounds(
      job,
      {
        deliver: async (unit, delivery) => void (await activities.runUnit(unit, delivery)),
        settle: activities.settle,
      },
      { attempts, signal },
    );
    return (await viewItems(job)).map((item) => ledger.report(item, job.clock.now()));
  });
}
