/**
 * What runs outside of the workflow: I/O, clocks, payloads. No Temporal here; `queue/` adapts it.
 *
 *   run-unit.ts      the one handler of a unit, in any lane      attend.ts        looks after a unit while it runs
 *   open-run.ts      runs items: the lane `run`                  unit-run.ts      what a run shares
 *   invoke.ts        the one place where payload code is called  invocation.ts    one call: signal, deadline, hooks
 *   check-run.ts     asks vendors about waits                    vendor-requests.ts  one question, with a deadline
 *   quarantine.ts    runs suspects in a process of their own     pinned.ts        batches that keep their members
 *   disposition.ts   what an attempt led to                      item-source.ts   a unit's inputs, a page at a time
 *   settler.ts       writes what the units have buffered         unit-buffer.ts   what is not written yet
 *   safe-log.ts      takes whatever a payload says
 *   cancel-watch.ts  hears of cancels                            settle-cancelled.ts  ends what a cancel leaves open
 *   calls/           journaled calls                             context/         the verbs, a file each
 */
import { decode, encode } from '../model/index-set';
import { JournalWriter } from './calls/journal-writer';
import type { ActivityDeps } from './deps';
import { elsewhere } from './admitted';
import { CancelWatch } from './cancel-watch';
import { runUnit } from './run-unit';
import { safeLog } from './safe-log';
import { settleCancelled } from './settle-cancelled';
import { Settler } from './settler';
import type { Activities } from './types';

export { systemClock, type Clock } from './clock';
export type {
  ActivityDeps,
  Log,
  Quarantine,
  QuarantineEnd,
  QuarantineRequest,
  StartedLog,
  StartedPlace,
  UnitSettings,
} from './deps';
export { runSuspects } from './quarantine';
export type { Activities, Delivery, JobRef, UnitInput, UnitResult } from './types';

export function createActivities(parts: ActivityDeps): Activities {
  const deps = { ...parts, log: safeLog(parts.log) };
  const { store, clock, log } = deps;
  const shared = {
    settler: new Settler(store, clock, log),
    journal: new JournalWriter(store, clock, log),
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

    claimDue: async ({ jobNo, exclude, limit, without }) => {
      const { due, more, nextDue } = await store.due(jobNo, decode(exclude), limit, without);
      return { set: encode(due.run), ...elsewhere(due), more, nextDue };
    },

    recover: async ({ jobNo, generation, seq, set }) => {
      const { open, nextDue } = await store.recover(jobNo, generation, seq, decode(set));
      await store.appendLog(jobNo, {
        level: 'warn',
        source: 'runner',
        message: `unit u${seq} was lost: what is open of it runs again`,
      });
      return { open: encode(open.run), ...elsewhere(open), nextDue };
    },

    recordCancel: async ({ jobNo, by }) => {
      await store.requestCancel(jobNo, by);
    },

    settle: (ref) => settleCancelled(deps, shared, ref),

    finalize: async ({ jobNo, round }) => {
      const answer = await store.finalize(jobNo, round);
      return 'state' in answer ? answer : { missing: encode(answer.missing), nextDue: answer.nextDue };
    },
  };
}
