import type { Log } from '../../activities';
import type { ErrorInfo, StartedItem, Store } from '../../store';
import type { SupervisorClock } from './clock';

/** A store that is away is tried again after a while that grows up to `mostMs`, and given up after `patienceMs`. */
const RETRY = { firstMs: 250, mostMs: 5_000, patienceMs: 300_000 };

export type SuspectStore = Pick<Store, 'suspect' | 'close'>;

export interface SuspectsOptions {
  /** Opened for each death and closed again: they are few, and a supervisor holds nothing. */
  readonly openStore: () => Promise<SuspectStore>;
  readonly log: Log;
  readonly clock: SupervisorClock;
}

/** Says in the store which items had started in a worker that died. Nobody waits for it: the next worker starts anyway. */
export class Suspects {
  private readonly writing = new Set<Promise<void>>();

  constructor(private readonly options: SuspectsOptions) {}

  report(items: readonly StartedItem[], why: ErrorInfo): void {
    if (items.length === 0) return;
    const writing = this.write(items, why).finally(() => this.writing.delete(writing));
    this.writing.add(writing);
  }

  /** Resolves when all of it is written or given up, or after `patienceMs`. */
  async written(patienceMs: number): Promise<void> {
    const { clock } = this.options;
    const over = new AbortController();
    await Promise.race([Promise.all(this.writing), clock.sleep(patienceMs, over.signal)]);
    over.abort();
  }

  private async write(items: readonly StartedItem[], why: ErrorInfo): Promise<void> {
    const { clock, log } = this.options;
    const until = clock.now() + RETRY.patienceMs;
    for (let delay = RETRY.firstMs; ; delay = Math.min(delay * 2, RETRY.mostMs)) {
      try {
        const suspects = await this.tryWrite(items, why);
        log.info({ started: items.length, suspects }, 'items that had started in the worker will be run one by one');
        return;
      } catch (error) {
        if (clock.now() + delay > until) {
          log.error({ err: error, items }, 'cannot write which items had started in the worker that died');
          return;
        }
        log.warn({ err: error }, 'cannot write yet which items had started in the worker that died');
        await clock.sleep(delay);
      }
    }
  }

  private async tryWrite(items: readonly StartedItem[], why: ErrorInfo): Promise<number> {
    const store = await this.options.openStore();
    try {
      return await store.suspect(items, why);
    } finally {
      await store.close();
    }
  }
}
