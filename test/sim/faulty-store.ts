import type { Store } from '../../store';
import { StoreUnavailable } from '../../store';
import type { SqlDialect } from '../../store/sql/dialect';
import { createSqlStore } from '../../store/sql/store';
import type { Faults } from './faults';
import type { SimProcess } from './process';
import type { Scheduler } from './scheduler';
import type { Trace } from './trace';

/** A call of the store as it was asked for; `result` is that of its first transaction. */
export interface StoreCall {
  readonly method: keyof Store;
  readonly args: readonly unknown[];
}

export interface StoreWorld {
  readonly base: SqlDialect;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly trace: Trace;
  readonly newId: () => string;
  /** Told of a transaction when it is committed, whoever hears of it. */
  readonly committed: (process: SimProcess, call: StoreCall, result: unknown) => void;
  /** Tells a process's listener of a write, soon. */
  readonly listen: (process: SimProcess, listener: () => void) => () => void;
}

/** Lines of the trace leave these out: they come every few seconds, and say nothing. */
const QUIET = new Set<keyof Store>(['beat', 'lease', 'cancelling', 'unstarted', 'silent', 'brokenUploads', 'workers']);

/**
 * The product's store as one process has it. Faults are those of transactions, so that a method of several may fail, or
 * its process die, between any two of them.
 */
export async function openProcessStore(world: StoreWorld, process: SimProcess): Promise<Store> {
  const calls = new Calls();
  const tx = new Transactions(world, process, calls);
  const { base } = world;
  const dialect: SqlDialect = {
    ...base,
    write: (work) => tx.run('write', () => base.write(work)),
    read: (work) => tx.run('read', () => base.read(work)),
    onChange: (listener) => world.listen(process, listener),
    close: () => Promise.resolve(),
  };
  const store = await createSqlStore(dialect, world.scheduler.now, world.newId);
  tx.arm();
  return calls.over(store);
}

/** Knows which method a transaction is the first one of. */
class Calls {
  private current: StoreCall | undefined;

  over(store: Store): Store {
    const named: Record<string, unknown> = { ...store };
    for (const [method, work] of Object.entries(store) as [keyof Store, unknown][]) {
      if (typeof work !== 'function' || method === 'onChange' || method === 'close') continue;
      named[method] = (...args: unknown[]): unknown => {
        this.current = { method, args };
        try {
          return (work as (...all: unknown[]) => unknown)(...args);
        } finally {
          this.current = undefined;
        }
      };
    }
    return named as unknown as Store;
  }

  take(): StoreCall | undefined {
    const { current } = this;
    this.current = undefined;
    return current;
  }
}

class Transactions {
  private armed = false;

  constructor(
    private readonly world: StoreWorld,
    private readonly process: SimProcess,
    private readonly calls: Calls,
  ) {}

  /** From now on there are faults. */
  arm(): void {
    this.armed = true;
  }

  async run<T>(kind: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    if (!this.armed) return work();
    const { process, world } = this;
    const { faults, scheduler, trace } = world;
    const call = this.calls.take();
    const name = call?.method ?? kind;
    const quiet = call !== undefined && QUIET.has(call.method);
    await this.before(name);
    const result = await scheduler.during(work);
    if (!quiet) trace.add(process.name, `${name}${describe(call, result)}`);
    if (call) world.committed(process, call, result);
    if (kind === 'write' && faults.strikes('crashAfter', process.name, name)) process.crash();
    await this.pause();
    if (kind === 'write' && faults.strikes('txAnswerLost', process.name, name))
      throw new StoreUnavailable('answer lost');
    return result;
  }

  private async before(name: string): Promise<void> {
    const { process, world } = this;
    const { faults } = world;
    await process.gate();
    await this.pause();
    if (faults.isOutage || faults.strikes('txAway', process.name, name)) {
      process.troubledAt = world.scheduler.now();
      throw new StoreUnavailable('the simulated store is away');
    }
    if (faults.strikes('crashBefore', process.name, name)) process.crash();
    await process.gate();
  }

  private async pause(): Promise<void> {
    const { process, world } = this;
    const { faults } = world;
    const slow = faults.strikes('txSlow', process.name);
    const ms = slow ? faults.rng.int(200, 12_000) : faults.latency();
    if (slow) process.troubledAt = world.scheduler.now() + ms;
    if (ms > 0) await world.scheduler.sleep(ms);
    await process.gate();
  }
}

/** What a line of the trace says of a call: short, and the same on every run. */
function describe(call: StoreCall | undefined, result: unknown): string {
  if (!call) return '';
  const text = `${JSON.stringify(call.args).slice(0, 400)} -> ${JSON.stringify(result)?.slice(0, 160) ?? ''}`;
  return ` ${text}`;
}
