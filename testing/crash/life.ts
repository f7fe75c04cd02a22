import type { Clock } from '../../activities';
import type { Store } from '../../store';
import type { TestClock } from '../test-clock';
import { PointCounter, type CrashPoint } from './points';
import type { Names } from './names';
import { pointsOf } from './writes';

/** What is never over. */
const FOREVER = new Promise<never>(() => undefined);

/** How long what is on its way to a vendor when a process dies may take to arrive, ms. */
const ARRIVES_MS = 1_000;

/**
 * A process that may die. From then on everything of it stands still for ever at the next thing that it waits for from
 * the runner: nothing later of it reaches the store, and no call of it is sent.
 */
export class Life {
  /** The points that it came to. */
  readonly points: CrashPoint[] = [];
  /** Where it died. */
  end: CrashPoint | undefined;
  readonly died: Promise<void>;
  private die!: () => void;
  private readonly counter = new PointCounter();
  private readonly timers = new Set<() => void>();
  private readonly sending = new Set<Promise<unknown>>();

  /** @param at the id of the point at which it dies. */
  constructor(
    private readonly at: string | undefined,
    private readonly names: Names,
  ) {
    this.died = new Promise((resolve) => (this.die = resolve));
  }

  get dead(): boolean {
    return this.end !== undefined;
  }

  /** Comes to a point; what died there, or before, never gets past it. */
  async pass(kind: string, words: string): Promise<void> {
    if (this.dead) return FOREVER;
    const point = this.counter.next(kind, words);
    this.points.push(point);
    if (point.id !== this.at) return;
    this.end = point;
    for (const stop of this.timers) stop();
    this.die();
    return FOREVER;
  }

  /** Something under way at a vendor: it is not called back by a death. */
  track<T>(work: Promise<T>): Promise<T> {
    const over: Promise<unknown> = work.catch(() => undefined).then(() => this.sending.delete(over));
    this.sending.add(over);
    return work;
  }

  /** Resolves when what was on its way has arrived, or will not soon. */
  async arrived(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => (timer = setTimeout(resolve, ARRIVES_MS)));
    await Promise.race([Promise.all(this.sending), enough]);
    clearTimeout(timer);
  }

  /** The store as this process reaches it. */
  over(store: Store): Store {
    return new Proxy(store, {
      get: (target, name, receiver) => {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== 'function' || name === 'onChange') return value;
        const method = value as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => this.reach(name as keyof Store, args, () => method(...args));
      },
    });
  }

  /** Its time ends with it. */
  clock(clock: TestClock): Clock {
    return {
      now: clock.now,
      every: (ms, work) => {
        if (this.dead) return () => undefined;
        const stop = clock.every(ms, () => this.dead || work());
        this.timers.add(stop);
        return () => {
          this.timers.delete(stop);
          stop();
        };
      },
      breathe: () => this.living(clock.breathe()),
    };
  }

  private async reach(name: keyof Store, args: unknown[], work: () => Promise<unknown>): Promise<unknown> {
    const { before, after } = pointsOf(name, args, this.names);
    if (before) await this.pass(`before ${before.kind}`, before.words);
    if (this.dead) return FOREVER;
    const result = await this.living(work());
    if (after) await this.pass(`after ${after.kind}`, after.words);
    return result;
  }

  private living<T>(work: Promise<T>): Promise<T> {
    return work.then(
      (value) => (this.dead ? FOREVER : value),
      (error: unknown) => (this.dead ? FOREVER : Promise.reject(error as Error)),
    );
  }
}
