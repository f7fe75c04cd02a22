import {
  createActivities,
  runSuspects,
  type Activities,
  type ActivityDeps,
  type Log,
  type Quarantine,
} from '../../activities';
import { createRegistry, type Payload } from '../../contract';
import type { StartedItem, Store } from '../../store';
import type { Faults } from './faults';
import { SimProcess } from './process';
import type { Rng } from './random';
import type { Scheduler } from './scheduler';

/** Which items have started in a process; what its supervisor reads when it has died. */
export class StartedItems {
  private readonly places = new Set<{ items: StartedItem[] }>();

  place(): ReturnType<NonNullable<ActivityDeps['started']>['place']> {
    const place: { items: StartedItem[] } = { items: [] };
    this.places.add(place);
    return {
      enter: ({ jobNo, generation, seq }, index, count = 1) => {
        place.items = Array.from({ length: count }, (_, i) => ({ jobNo, generation, seq, index: index + i }));
      },
      free: () => {
        place.items = [];
      },
    };
  }

  get all(): StartedItem[] {
    return [...this.places].flatMap((place) => place.items);
  }
}

/** What workers are made of. */
export interface WorkerParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly rng: Rng;
  readonly log: (process: SimProcess) => Log;
  readonly openStore: (process: SimProcess) => Promise<Store>;
  readonly payloads: (process: SimProcess) => Payload[];
  readonly sabotage: (activities: Activities) => Activities;
  readonly supervised: boolean;
}

/** A worker process: the product's activities over its own store, clock and payloads. */
export interface SimWorker {
  readonly process: SimProcess;
  readonly store: Store;
  readonly activities: Activities;
  readonly started: StartedItems;
}

const SETTINGS = { unitBudgetMs: 60_000, heartbeatMs: 2_000, shutdownGraceMs: 10_000 };

/** A worker's row is written this often, ms; a third of the time after which it is taken for dead. */
const BEAT_MS = 5_000;

export async function startWorker(parts: WorkerParts, name: string): Promise<SimWorker> {
  const process = new SimProcess(name, parts.scheduler);
  const store = await parts.scheduler.during(() => parts.openStore(process));
  const started = new StartedItems();
  const quarantine = parts.supervised ? { quarantine: quarantineOf(parts, process) } : {};
  const deps = { ...depsOf(parts, process, store), started, ...quarantine };
  const beat = (): void => {
    const row = { ...{ id: name, pool: 'default', capabilities: [], ceilings: {}, memoryMb: 1 }, loopDelayMs: 0 };
    store.beat({ ...row, startedAt: process.clock.now() }).catch(() => undefined);
  };
  beat();
  process.clock.every(BEAT_MS, beat);
  return { process, store, activities: parts.sabotage(createActivities(deps)), started };
}

function depsOf(parts: WorkerParts, process: SimProcess, store: Store): ActivityDeps {
  const rng = parts.rng.fork(process.name);
  return {
    store,
    registry: createRegistry(parts.payloads(process)),
    configOf: () => ({}),
    clock: process.clock,
    random: rng.next,
    newId: () => rng.id(),
    log: parts.log(process),
    workerId: process.name,
    draining: process.draining.signal,
    settings: SETTINGS,
  };
}

const KILLED = { code: 'killed', message: 'the simulator killed it' };

/** Runs suspects in processes of their own, children of the worker: they die with it. */
function quarantineOf(parts: WorkerParts, parent: SimProcess): Quarantine {
  let children = 0;
  return {
    run: async (request, stop) => {
      const child = new SimProcess(`${parent.name}q${++children}`, parts.scheduler, parent);
      parent.onDeath(() => child.crash());
      const store = await parts.scheduler.during(() => parts.openStore(child));
      let current: number | null = null;
      const died = new Promise<{ is: 'died'; index: number | null; why: typeof KILLED }>((resolve) => {
        child.onDeath(() => parts.scheduler.after(100, () => resolve({ is: 'died', index: current, why: KILLED })));
      });
      stop.addEventListener('abort', () => child.draining.abort(), { once: true });
      if (stop.aborted) child.draining.abort();
      const deps = depsOf(parts, child, store);
      const ran = runSuspects(deps, request, (index) => {
        current = index;
      });
      // One that cannot go on ends, as a process does that throws.
      const done = ran.then((run) => ({ is: 'done' as const, ...run }));
      done.catch(() => child.crash());
      const end = await parent.hear(Promise.race([done.catch(() => died), died]));
      return end;
    },
  };
}
