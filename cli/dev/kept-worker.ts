import type { Clock } from '../session';
import type { Announced, Exit } from './announced';

const DELAY = { firstMs: 500, mostMs: 10_000 };
/** A worker that lived this long was well. */
const WELL_MS = 10_000;

export interface KeptWorkerOptions {
  readonly launch: () => Announced;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/** A worker that is started again when it ends by itself: a crash of it costs a person nothing. */
export class KeptWorker {
  private readonly stopping = new AbortController();
  private current: Announced;
  private worked = false;
  private readonly kept: Promise<void>;
  /** Resolves when it takes work for the first time; rejects when it ends before that. */
  readonly working: Promise<void>;

  constructor(private readonly options: KeptWorkerOptions) {
    this.current = options.launch();
    const first = this.current;
    this.working = Promise.race([
      first.announced.then(() => {
        this.worked = true;
      }),
      first.exited.then((exit) => {
        if (!this.worked)
          throw new Error(`the worker ended before it worked (${describeExit(exit)}):\n${first.tail()}`);
      }),
    ]);
    // Whoever waits for it hears of it; nobody need.
    this.working.catch(() => undefined);
    this.kept = this.keep();
  }

  /** Ends it for good, with SIGKILL after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    await this.current.stop(graceMs);
    await this.kept;
  }

  kill(): void {
    this.stopping.abort();
    this.current.kill();
  }

  private async keep(): Promise<void> {
    const { clock, say, launch } = this.options;
    let delay = DELAY.firstMs;
    for (;;) {
      const startedAt = clock.now();
      const exit = await this.current.exited;
      if (this.stopping.signal.aborted || !this.worked) return;
      if (clock.now() - startedAt >= WELL_MS) delay = DELAY.firstMs;
      say(`the worker ended by itself (${describeExit(exit)}); starting it again`);
      await clock.sleep(delay, this.stopping.signal);
      if (this.stopping.signal.aborted) return;
      delay = Math.min(delay * 2, DELAY.mostMs);
      this.current = launch();
    }
  }
}

export function describeExit({ code, signal }: Exit): string {
  return signal ?? `exit code ${code}`;
}
