import type { Writable } from 'node:stream';
import type { Quarantine, QuarantineEnd, QuarantineRequest } from '../../activities/deps';
import { toErrorInfo, type ErrorInfo } from '../../model/error-info';
import { eventLoopBlocked } from '../death';
import { WatchedProcess, type NodeCommand } from '../watched-process';
import type { FromQuarantine, ToQuarantine } from './messages';

/** Longest start of a process, ms: it loads the payloads and opens the store. */
const START_MS = 60_000;
/** Pings in one heartbeat time-out. */
const PINGS = 5;
/**
 * So many heartbeat time-outs without an answer, and the process is killed. Its own watchdog is quicker, and is not
 * deceived by a machine that has no time for the process; this is for a process that is stopped, watchdog and all.
 */
const SILENT_TIMEOUTS = 3;
/** Beyond the grace that a running item has after `stop`, and to end once it is done, ms. */
const EXTRA_GRACE_MS = 5_000;

export interface QuarantineOptions {
  /** Starts a quarantine process. */
  readonly command: NodeCommand;
  readonly stderr: Writable;
  /** The folder for what this process leaves behind: what its child leaves is in it. */
  readonly traces: string;
  readonly heartbeatTimeoutMs: number;
  readonly shutdownGraceMs: number;
}

/** Quarantine in a child process; see `serve.ts` for what runs there. */
export class QuarantineProcess implements Quarantine {
  constructor(private readonly options: QuarantineOptions) {}

  async run(request: QuarantineRequest, stop: AbortSignal): Promise<QuarantineEnd> {
    if (stop.aborted) return { is: 'done', ran: 0, nextDue: null, full: false };
    try {
      return await new Session(this.options, request, stop).run();
    } catch (error) {
      return { is: 'died', index: null, why: toErrorInfo(error) };
    }
  }
}

/** One quarantine process. */
class Session {
  private readonly child: WatchedProcess;
  private index: number | null = null;
  /** Why it was killed from here. */
  private verdict: { readonly why: ErrorInfo; readonly byItem: boolean } | undefined;
  private unanswered = 0;
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly starting: NodeJS.Timeout;
  private readonly answer: Promise<QuarantineEnd>;
  private resolve!: (end: QuarantineEnd) => void;

  constructor(
    private readonly options: QuarantineOptions,
    private readonly request: QuarantineRequest,
    private readonly stop: AbortSignal,
  ) {
    this.answer = new Promise((resolve) => (this.resolve = resolve));
    this.child = new WatchedProcess(options.command, {
      ownGroup: false,
      stderr: options.stderr,
      tracesWithin: options.traces,
      onMessage: (message) => this.hear(message as FromQuarantine),
    });
    this.starting = this.after(START_MS, () =>
      this.kill({ code: 'not_started', message: `its process did not start within ${START_MS} ms` }, false),
    );
  }

  async run(): Promise<QuarantineEnd> {
    const onStop = (): void => this.drain();
    this.stop.addEventListener('abort', onStop);
    try {
      return await Promise.race([this.answer, this.death()]);
    } finally {
      this.stop.removeEventListener('abort', onStop);
      for (const timer of this.timers) clearTimeout(timer);
      this.endSoon();
    }
  }

  private async death(): Promise<QuarantineEnd> {
    const { why } = await this.child.ended;
    if (this.verdict) return { is: 'died', index: this.verdict.byItem ? this.index : null, why: this.verdict.why };
    return { is: 'died', index: this.index, why };
  }

  private hear(message: FromQuarantine): void {
    switch (message.is) {
      case 'ready':
        clearTimeout(this.starting);
        this.send({ is: 'run', request: this.request });
        this.ping();
        break;
      case 'pong':
        this.unanswered = 0;
        break;
      case 'starting':
        this.index = message.index;
        break;
      case 'done':
        this.resolve(message);
        break;
      case 'failed':
        this.resolve({ is: 'died', index: null, why: message.why });
    }
  }

  /** Counts in ticks, so that a worker that was itself stopped does not take its own silence for that of the other. */
  private ping(): void {
    const timer = setInterval(() => {
      if (this.unanswered >= PINGS * SILENT_TIMEOUTS) {
        this.kill(eventLoopBlocked(SILENT_TIMEOUTS * this.options.heartbeatTimeoutMs), true);
      }
      this.unanswered++;
      this.send({ is: 'ping' });
    }, this.options.heartbeatTimeoutMs / PINGS);
    this.timers.add(timer);
  }

  private drain(): void {
    this.send({ is: 'drain' });
    this.after(this.options.shutdownGraceMs + EXTRA_GRACE_MS, () =>
      this.kill({ code: 'stopped', message: 'its process did not end in time when it was told to stop' }, false),
    );
  }

  private kill(why: ErrorInfo, byItem: boolean): void {
    this.verdict ??= { why, byItem };
    this.child.kill();
  }

  private endSoon(): void {
    const timer = setTimeout(() => this.child.kill(), EXTRA_GRACE_MS);
    void this.child.ended.then(() => clearTimeout(timer));
  }

  private send(message: ToQuarantine): void {
    this.child.send(message);
  }

  private after(ms: number, work: () => void): NodeJS.Timeout {
    const timer = setTimeout(work, ms);
    this.timers.add(timer);
    return timer;
  }
}
