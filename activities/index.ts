/**
 * What runs outside of the workflow: I/O, clocks, payloads. No Temporal here; `queue/` adapts it.
 *
 *   run-unit.ts      the one handler that calls a payload        unit-run.ts      a unit while it runs
 *   invoke.ts        the one place where payload code is called  invocation.ts    one call: signal, deadline, hooks
 *   disposition.ts   what an attempt led to                      item-source.ts   a unit's inputs, a page at a time
 *   settler.ts       writes what the units have buffered         unit-buffer.ts   what is not written yet
 *   cancel-watch.ts  hears of cancels                            context/         the verbs, a file each
 */
import { decode, encode } from '../model/index-set';
import type { ActivityDeps } from './deps';
import { CancelWatch } from './cancel-watch';
import { runUnit } from './run-unit';
import { Settler } from './settler';
import type { Activities } from './types';

export { systemClock, type Clock } from './clock';
export type { ActivityDeps, Log, UnitSettings } from './deps';
export type { Activities, Delivery, JobRef, UnitInput, UnitResult } from './types';

/** What an item that a cancel kept from starting says of itself. */
export const CANCELLED_BODY = { reason: 'cancelled' } as const;

export function createActivities(deps: ActivityDeps): Activities {
  const { store, clock, log } = deps;
  const shared = {
    settler: new Settler(store, clock, log),
    cancelWatch: new CancelWatch(store, clock, log),
    busy: new Set<string>(),
  };
  return {
    runUnit: (input, delivery) => runUnit(deps, shared, input, delivery),

    begin: async ({ jobNo }) => {
      const job = await store.jobByNo(jobNo);
      if (!job) throw new Error(`there is no job number ${jobNo}`);
      const { cursor, nextDue } = await store.beginning(jobNo);
      return { cursor, nextDue, paused: job.paused, cancel: job.cancel !== null };
    },

    claimDue: async ({ jobNo, exclude, limit }) => {
      const { set, more, nextDue } = await store.due(jobNo, decode(exclude), limit);
      return { set: encode(set), more, nextDue };
    },

    recover: async ({ jobNo, generation, seq, set }) => {
      const { open, nextDue } = await store.recover(jobNo, generation, seq, decode(set));
      await store.appendLog(jobNo, {
        level: 'warn',
        source: 'runner',
        message: `unit u${seq} was lost: what is open of it runs again`,
      });
      return { open: encode(open), nextDue };
    },

    recordCancel: async ({ jobNo, by }) => {
      await store.requestCancel(jobNo, by);
    },

    settle: async ({ jobNo }) => ({ skipped: await store.endOpenItems(jobNo, 'skipped', CANCELLED_BODY) }),

    finalize: async ({ jobNo, round }) => {
      const answer = await store.finalize(jobNo, round);
      return 'state' in answer ? answer : { missing: encode(answer.missing), nextDue: answer.nextDue };
    },
  };
}
