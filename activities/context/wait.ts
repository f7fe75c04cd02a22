import { Reject, type Wait, type WaitContext, type Waiting } from '../../contract';
import { toIssues } from '../../model/error-info';
import { checkDue } from '../../model/checks';
import type { Calls } from '../calls/calls';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import type { UnitRun } from '../unit-run';
import { createLog } from './log';

/** What an attempt led to when it started a wait: parked until the first check. */
export class WaitStarted {
  constructor(readonly due: number) {}
}

/**
 * Starts what `ctx.wait` asked for: a journaled call, so that the vendor is asked once however often the item runs. The
 * remote id is stored with its result.
 * @throws what the start throws, or a Reject where the payload misuses the verb.
 */
export async function startWait(
  unit: UnitRun,
  invocation: Invocation,
  calls: Calls,
  work: WorkItem,
  asked: Waiting,
): Promise<WaitStarted> {
  const wait = unit.payload.waits.get(asked.wait);
  if (!wait) throw misuse('wait_not_declared', `the payload declares no wait ${JSON.stringify(asked.wait)}`);
  const args = wait.spec.args.safeParse(asked.args);
  if (!args.success) {
    const { code, message, issues } = toIssues(
      'wait_args_invalid',
      'what ctx.wait was given does not fit',
      args.error.issues,
    );
    throw Object.assign(misuse(code, message), { issues });
  }
  const context = waitContext(unit, invocation, work);
  const ordinal = (work.resume?.ordinal ?? 0) + 1;
  await calls.perform({
    kind: 'start',
    vendor: null,
    call: `wait:${wait.name}#${ordinal}`,
    args: asked.args,
    idempotent: wait.spec.idempotent ?? false,
    send: async (info) => remoteIdOf(wait, await wait.spec.start(args.data, info, context)),
    reconcile: wait.spec.reconcile && ((info) => wait.spec.reconcile!(args.data, info, context)),
    wait: {
      index: work.index,
      name: wait.name,
      ordinal,
      capability: unit.payload.capability,
      maxOpen: wait.maxOpen,
    },
  });
  return new WaitStarted(checkDue(unit.clock.now(), 0, wait.every, unit.job.no));
}

function waitContext(unit: UnitRun, invocation: Invocation, work: WorkItem): WaitContext {
  return { params: unit.params, config: unit.config, log: createLog(unit, invocation, () => [work]) };
}

/**
 * @throws Error with a code when it is no id: nobody could ask for it. No Reject, which would say that the vendor did
 *   nothing.
 */
function remoteIdOf(wait: Wait, id: unknown): string {
  if (typeof id === 'string' && id !== '' && Buffer.byteLength(id) <= MAX_ID_BYTES) return id;
  const message = `start of ${wait.name} returned no remote id: a text of 1 to ${MAX_ID_BYTES} bytes`;
  throw Object.assign(new Error(message), { code: 'remote_id_invalid' });
}
const MAX_ID_BYTES = 1_000;

/** An error of the payload itself, which no retry mends. */
function misuse(code: string, message: string): Reject {
  return new Reject(message, { code });
}
