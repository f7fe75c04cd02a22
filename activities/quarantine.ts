import { fromIndexes, isEmpty, type IndexSet } from '../model/index-set';
import { DEATH_LIMIT } from '../model/quarantine';
import type { OpenItem } from '../store';
import type { Admitted } from './admitted';
import type { Attended } from './attend';
import { JournalWriter } from './calls/journal-writer';
import { CancelWatch } from './cancel-watch';
import type { ActivityDeps, QuarantineEnd, QuarantineRequest, SuspectsRun } from './deps';
import type { StopReason } from './invocation';
import { runOpenItems } from './open-run';
import { safeLog } from './safe-log';
import { Settler } from './settler';
import { UnitBuffer } from './unit-buffer';

/** Processes that may die before they run anything, before the unit is handed back. */
const STARTS = 3;

/** A process takes nothing new after this long, ms: it has to end well within its unit's time. */
const CHILD_BUDGET_MS = 20_000;

/**
 * A unit of suspects: runs them one by one in a process of their own. The item that such a process dies of twice has its
 * outcome with the reason; the others go on as if nothing had been.
 */
export class QuarantineRun implements Attended {
  readonly job;
  readonly buffer;
  /** Suspects that were not run. */
  rest: IndexSet = [];
  /** Items that started to wait here, and whose first check has come due meanwhile. */
  checks: IndexSet = [];
  nextDue: number | null = null;
  ran = 0;
  /** A ceiling on open waits was met. */
  full = false;
  private readonly stop = new AbortController();
  private idle = false;
  private failedStarts = 0;

  constructor(private readonly admitted: Admitted) {
    this.job = admitted.job;
    this.buffer = admitted.buffer;
  }

  async run(): Promise<void> {
    const { deps, set, buffer } = this.admitted;
    for (;;) {
      const { open, nextDue, elsewhere } = await deps.store.openItems(this.job.no, set, 'quarantine');
      this.checks = elsewhere.check;
      this.rest = fromIndexes(open.map((item) => item.index));
      this.nextDue = nextDue;
      if (isEmpty(this.rest) || this.idle || buffer.refused || this.isBroken) return;
      const end = await deps.quarantine!.run({ fence: buffer.fence, set: this.rest }, this.stop.signal);
      if (end.is === 'died') await this.died(end, open);
      else this.ended(end);
    }
  }

  /** No process lives long enough to run anything here. */
  get isBroken(): boolean {
    return this.failedStarts >= STARTS;
  }

  halt(why: StopReason, tellRunning: boolean): void {
    this.idle = true;
    // The process hears of a cancel by itself, and has a grace of its own for a shutdown.
    if (tellRunning || why === 'shutdown') this.stop.abort();
  }

  spendBudget(): void {
    this.idle = true;
  }

  tick(): void {
    if (this.buffer.refused) this.halt('superseded', true);
    if (this.buffer.failure) this.halt('store', true);
  }

  private ended({ ran, full }: SuspectsRun): void {
    this.ran += ran;
    this.full = full;
    // What it did not run now it will not run if asked again at once.
    if (full || ran === 0) this.idle = true;
  }

  private async died(end: QuarantineEnd & { is: 'died' }, open: readonly OpenItem[]): Promise<void> {
    const { deps, shared, buffer, log } = this.admitted;
    log.warn({ index: end.index, code: end.why.code }, `a quarantine process died: ${end.why.message}`);
    if (end.index === null) return void this.failedStarts++;
    this.ran++;
    const deaths = await deps.store.diedAlone(buffer.fence, end.index, end.why);
    if (deaths === 0) buffer.refused = true;
    if (deaths < DEATH_LIMIT) return;
    const attempts = (open.find((item) => item.index === end.index)?.history.attempts ?? 0) + 1;
    const message = `${end.why.message} (alone in a process of its own, ${deaths} times)`;
    buffer.giveUp(end.index, attempts, { error: { ...end.why, message } });
    await shared.settler.flush();
  }
}

/**
 * What a quarantine process does: runs the items one by one within the unit that was admitted for it, and says which one
 * it starts before it does.
 * @param onStart resolves when the name of the item can no longer be lost.
 * @throws StoreUnavailable, or Error when the job or its payload is not to be had here.
 */
export async function runSuspects(
  parts: ActivityDeps,
  { fence, set }: QuarantineRequest,
  onStart: (index: number) => void | Promise<void>,
): Promise<SuspectsRun> {
  const deps = { ...parts, log: safeLog(parts.log) };
  const { store, clock, log } = deps;
  const job = await store.jobByNo(fence.jobNo);
  const payload = job && deps.registry.get(job.capability);
  if (!payload) throw new Error(`job number ${fence.jobNo} cannot be run here`);
  const shared = {
    settler: new Settler(store, clock, log),
    journal: new JournalWriter(store, clock, log),
    cancelWatch: new CancelWatch(store, clock, log),
    busy: new Set<string>(),
  };
  const buffer = new UnitBuffer(fence);
  shared.settler.add(buffer);
  try {
    const unitBudgetMs = Math.min(deps.settings.unitBudgetMs, CHILD_BUDGET_MS);
    const alone = { ...deps, settings: { ...deps.settings, unitBudgetMs } };
    const admitted = { deps: alone, shared, job, payload, set, slots: 1, buffer, log };
    const delivery = { heartbeat: () => undefined, stop: new AbortController().signal };
    const { ran, nextDue, fullMs } = await runOpenItems(admitted, delivery, 'quarantine', {
      announce: async (index) => onStart(index),
    });
    await shared.settler.flush();
    if (buffer.failure) throw buffer.failure.error;
    return { ran, nextDue, full: fullMs !== undefined };
  } finally {
    shared.settler.remove(buffer);
  }
}
