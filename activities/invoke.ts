import { Reject, type Item } from '../contract';
import { BatchFeed } from './context/batches';
import { ItemAttempt } from './context/item';
import { Invocation, isThenable, type Ending } from './invocation';
import type { WorkItem } from './item-source';
import { StartedSlot } from './started-slot';
import type { UnitRun } from './unit-run';

/** Runs a unit's items through its payload, as many at once as the unit has slots. */
export async function runItems(unit: UnitRun): Promise<void> {
  if (unit.payload.batches) return runBatches(unit);
  const slots = Array.from({ length: unit.slots }, () => runSlot(unit));
  // Only the store can fail a slot. The others then stop as well: nobody would look after what they run.
  for (const slot of slots) slot.catch(() => unit.halt('store', true));
  const ends = await Promise.allSettled(slots);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** One slot: an item after the other, until there is none or the unit is stopping. Waits only where it must. */
async function runSlot(unit: UnitRun): Promise<void> {
  const started = new StartedSlot(unit, unit.deps.started?.place());
  try {
    for (;;) {
      const work = unit.takeNow() ?? (await unit.take());
      if (!work) return;
      if (unit.announce) await unit.announce(work.index);
      const running = runOne(unit, work, started);
      started.ended(running === undefined);
      if (running) await running;
      if (unit.needsRelief) await unit.relieve();
    }
  } finally {
    started.free();
  }
}

/** One attempt of one item; a promise only if it did not end at once. */
function runOne(unit: UnitRun, work: WorkItem, started: StartedSlot): Promise<void> | undefined {
  const item = unit.parse(work);
  if (!item) return undefined;
  const invocation = new Invocation(unit.log);
  invocation.deadline = unit.clock.now() + unit.plan.itemTimeoutMs;
  const attempt = new ItemAttempt(unit, invocation, item, work);
  unit.buffer.running++;
  const finish = (ending: Ending): void => {
    unit.buffer.running--;
    unit.record(work, ending, invocation);
  };
  started.enter(work);
  const ending = unit.invoke(
    invocation,
    () => [work],
    () => start(unit, attempt, item, work),
  );
  if (ending instanceof Promise) {
    unit.occupy(work);
    return ending.then(finish);
  }
  finish(ending);
  return undefined;
}

/** Runs the payload, or goes on after an answered wait; and starts the wait that either asks for. */
function start(unit: UnitRun, attempt: ItemAttempt, item: Item, work: WorkItem): unknown {
  const { context } = attempt;
  const { resume } = work;
  const returned = resume
    ? call(unit, 'resume', resume.wait, item, context, answerTo(unit, resume))
    : call(unit, 'run', item, context);
  if (isThenable(returned)) return Promise.resolve(returned).then((value) => attempt.follow(value));
  return attempt.follow(returned);
}

/** The answer as its schema gives it out; it is stored as the vendor gave it. @throws Reject when it does not fit. */
function answerTo({ payload }: UnitRun, { wait, answer }: NonNullable<WorkItem['resume']>): unknown {
  const parsed = payload.waits.get(wait)?.spec.answer.safeParse(answer);
  if (parsed?.success) return parsed.data;
  throw new Reject(`this release of the payload does not take the answer to ${wait}`, { code: 'wait_answer_invalid' });
}

/** Calls `batches` until the unit's items are through: a call that fails ends its own batch, and the next goes on. */
async function runBatches(unit: UnitRun): Promise<void> {
  while (!(await isThrough(unit))) {
    const invocation = new Invocation(unit.log);
    const feed = new BatchFeed(unit, invocation);
    const ending = await unit.invoke(
      invocation,
      () => feed.current,
      () => call(unit, 'batches', feed.context),
    );
    unit.buffer.running = 0;
    await feed.end(ending);
    if (unit.needsRelief) await unit.relieve();
  }
}

/** Whether nothing is left that could be started. */
async function isThrough(unit: UnitRun): Promise<boolean> {
  if (!unit.stopping) await unit.source.fill();
  return unit.stopping || (unit.source.peek() === undefined && unit.pinned.length === 0);
}

/** The one place where payload code is called. */
function call(unit: UnitRun, handler: 'run' | 'resume' | 'batches', ...args: unknown[]): unknown {
  return (unit.payload[handler] as (...all: unknown[]) => unknown)(...args);
}
