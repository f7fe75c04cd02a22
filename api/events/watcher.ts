import type { JobRecord, Store } from '../../store';
import type { Logger } from '../../runtime';
import { Bell } from './bell';
import { Hub } from './hub';

/** Between two looks at the store there is at least this, ms, and so many times what the last look took. */
const PAUSE_MS = 200;
const PAUSE_FACTOR = 4;

/** After a look that failed, ms. */
const RETRY_MS = 1_000;

/** Without news, jobs are looked at this often, ms. */
const IDLE_MS = 5_000;

export interface Joined {
  readonly hub: Hub;
  leave(): void;
}

/**
 * Looks at the store for all streams of this process: one glance for however many jobs, whenever something was written,
 * and a look at the jobs that have news. It rests after each look in proportion to what that took, so that streams never
 * take more than a fifth of the process, however many there are.
 */
export class Watcher {
  private readonly hubs = new Map<number, Hub>();
  private readonly bell = new Bell();
  private looking = false;

  constructor(
    private readonly store: Store,
    private readonly log: Pick<Logger, 'warn'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Jobs that are watched. */
  get size(): number {
    return this.hubs.size;
  }

  /**
   * Makes `bell` ring at news of the job, until it is left.
   * @throws StoreUnavailable when the job cannot be read.
   */
  async join(job: JobRecord, bell: Bell): Promise<Joined> {
    const hub = this.hubs.get(job.no) ?? new Hub(this.store, job, this.now);
    this.hubs.set(job.no, hub);
    const leave = hub.join(bell);
    const joined = { hub, leave: () => this.leave(hub, leave) };
    try {
      if (!hub.view) await this.look([hub]);
    } catch (error) {
      joined.leave();
      throw error;
    }
    void this.keepLooking();
    return joined;
  }

  private leave(hub: Hub, leave: () => void): void {
    leave();
    if (hub.readers > 0 || this.hubs.get(hub.no) !== hub) return;
    this.hubs.delete(hub.no);
    if (this.hubs.size === 0) this.bell.ring();
  }

  private async look(hubs: readonly Hub[]): Promise<void> {
    const glances = await this.store.glance(hubs.map((hub) => hub.no));
    const byNo = new Map(glances.map((glance) => [glance.no, glance]));
    for (const hub of hubs) await hub.look(byNo.get(hub.no));
  }

  /** Looks until nobody watches. */
  private async keepLooking(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    const unsubscribe = this.store.onChange(() => this.bell.ring());
    const pause = new Bell();
    while (this.hubs.size > 0) {
      const open = [...this.hubs.values()].filter((hub) => !hub.over);
      const from = this.now();
      try {
        await this.look(open);
      } catch (error) {
        // Streams stay: they go on when the store is back.
        this.log.warn({ err: error }, 'cannot read the jobs whose events are streamed');
        await pause.wait(RETRY_MS);
        continue;
      }
      await pause.wait(Math.max(PAUSE_MS, PAUSE_FACTOR * (this.now() - from)));
      const due = Math.min(IDLE_MS, ...open.map((hub) => hub.dueIn));
      if (this.hubs.size > 0) await this.bell.wait(due);
    }
    unsubscribe();
    this.looking = false;
  }
}
