import type { Writable } from 'node:stream';
import type { Log } from '../../activities';
import { WatchedProcess, type NodeCommand, type WatchedEnd } from '../watched-process';
import { isWorking } from '../working';
import type { SupervisorClock } from './clock';
import type { Suspects } from './suspects';

/** Time between the end of a worker and the start of the next, ms: doubled from one to the next. */
const DELAY = { firstMs: 500, mostMs: 10_000 };
/** A worker that lived this long was well: the next delay is the first again, ms. */
const WELL_MS = 10_000;
/** Once it is told to stop, what is still to be written of suspects has this long, ms. */
const LAST_WORDS_MS = 5_000;

export interface SupervisorOptions {
  /** Starts the worker proper. */
  readonly command: NodeCommand;
  readonly suspects: Suspects;
  readonly log: Log;
  readonly clock: SupervisorClock;
  readonly stderr: Writable;
  /** Told each time that a worker takes work. */
  readonly onWorking: (working: { taskQueue: string; pid: number }) => void;
}

/** How it came to an end. `failed`: the first worker took no work at all, or the last one did not stop as it was told. */
export type SupervisorEnd =
  { readonly is: 'stopped' } | { readonly is: 'failed'; readonly worked: boolean; readonly last: WatchedEnd };

/** Runs the worker as a child, and starts it again when it ends by itself; says which items it had started then. */
export class Supervisor {
  private readonly stopping = new AbortController();
  private current: WatchedProcess | undefined;
  private worked = false;

  constructor(private readonly options: SupervisorOptions) {}

  /** Until it was stopped, or the first worker has ended without having taken work. */
  async run(): Promise<SupervisorEnd> {
    try {
      return await this.keep();
    } finally {
      await this.options.suspects.written(LAST_WORDS_MS);
    }
  }

  /** Tells the worker to stop, as SIGTERM does; it has its own grace. */
  stop(): void {
    if (this.stopping.signal.aborted) return;
    this.stopping.abort();
    this.current?.signal('SIGTERM');
  }

  /** Ends the worker at once; this process is to end as well. */
  kill(): void {
    this.stopping.abort();
    this.current?.abandon();
  }

  private async keep(): Promise<SupervisorEnd> {
    const { suspects, log, clock } = this.options;
    for (let delay = DELAY.firstMs; ; delay = Math.min(delay * 2, DELAY.mostMs)) {
      const startedAt = clock.now();
      const last = await this.runOnce();
      if (this.isStopped(last)) return { is: 'stopped' };
      suspects.report(last.started, last.why);
      if (this.stopping.signal.aborted || !this.worked) return { is: 'failed', worked: this.worked, last };
      if (clock.now() - startedAt >= WELL_MS) delay = DELAY.firstMs;
      const { code, signal, why, started } = last;
      log.error(
        { why: why.code, code, signal, started: started.length },
        `the worker died and is started again: ${why.message}`,
      );
      await clock.sleep(delay, this.stopping.signal);
      if (this.stopping.signal.aborted) return { is: 'stopped' };
    }
  }

  /** Whether it has ended as it was told to. SIGTERM itself ends one that has only begun to start. */
  private isStopped({ code, signal }: WatchedEnd): boolean {
    return this.stopping.signal.aborted && (code === 0 || signal === 'SIGTERM');
  }

  private runOnce(): Promise<WatchedEnd> {
    const { command, stderr, onWorking } = this.options;
    const worker = new WatchedProcess(command, {
      ownGroup: true,
      stderr,
      onMessage: (message) => {
        if (!isWorking(message)) return;
        this.worked = true;
        onWorking({ taskQueue: message.taskQueue, pid: worker.pid ?? 0 });
      },
    });
    this.current = worker;
    return worker.ended;
  }
}
