import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorInfo } from '../model/error-info';
import type { StartedItem } from '../store';
import { notStarted, whyItDied } from './death';
import { MemoryWords } from './memory-words';
import { makeTraces, removeTraces, takeTraces } from './traces';

/** What Node is to run: a file of ours and its arguments. */
export interface NodeCommand {
  readonly file: string;
  readonly args: readonly string[];
}

export interface WatchedOptions {
  /** In a process group of its own, out of reach of the terminal's Ctrl-C. */
  readonly ownGroup: boolean;
  /** Where its stderr is passed on to. */
  readonly stderr: Writable;
  readonly onMessage: (message: unknown) => void;
  /** Where the folder for what it leaves behind is made; default among the temporary ones. */
  readonly tracesWithin?: string;
}

/** How it ended, and what it had to do with it. */
export interface WatchedEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** As if nobody had asked it to. */
  readonly why: ErrorInfo;
  readonly started: readonly StartedItem[];
}

/** What a process that ended has written may still be on its way, ms; something it started can hold its stderr open. */
const LAST_WORDS_MS = 1_000;

const IS_WINDOWS = process.platform === 'win32';

/**
 * A process of ours that may die of what it runs. It has a channel to this one, which tells it when this one dies; its
 * output is passed on; and it is given `--traces <folder>` for what it leaves behind.
 */
export class WatchedProcess {
  readonly ended: Promise<WatchedEnd>;
  private readonly child: ChildProcess;
  /** Its messages and its stderr have been read to the end. */
  private readonly closed: Promise<void>;
  private readonly memory = new MemoryWords();
  private readonly traces: string;

  constructor(
    command: NodeCommand,
    private readonly options: WatchedOptions,
  ) {
    const { file, args } = command;
    this.traces = makeTraces(options.tracesWithin);
    this.child = spawn(process.execPath, [...process.execArgv, file, ...args, '--traces', this.traces], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      detached: options.ownGroup && !IS_WINDOWS,
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.memory.look(chunk);
      options.stderr.write(chunk);
    });
    this.child.on('message', (message) => options.onMessage(message));
    this.closed = new Promise((resolve) => this.child.once('close', () => resolve()));
    this.ended = this.untilEnd();
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** One that has ended, or is about to, is no error: `ended` says so. */
  send(message: object): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Ends it at once, with all that it has started if it has its own group. */
  kill(): void {
    this.child.kill('SIGKILL');
    this.killGroup();
  }

  /** Ends it at once, where nobody will wait for its end: this process ends as well. */
  abandon(): void {
    this.kill();
    removeTraces(this.traces);
  }

  private async untilEnd(): Promise<WatchedEnd> {
    const { code, signal, error } = await this.untilExit();
    // What it had started works for nobody now, and may hold its stderr open.
    this.killGroup();
    await Promise.race([this.closed, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    const { started, reason } = takeTraces(this.traces);
    const why = error ? notStarted(error) : whyItDied({ code, signal, outOfMemory: this.memory.seen, reason });
    return { code, signal, why, started };
  }

  private untilExit(): Promise<{ code: number | null; signal: NodeJS.Signals | null; error?: Error }> {
    return new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve({ code, signal }));
      this.child.on('error', (error) => {
        // Also emitted of a signal or message that could not be sent: that is no end.
        if (this.child.pid === undefined) resolve({ code: null, signal: null, error });
      });
    });
  }

  private killGroup(): void {
    if (!this.options.ownGroup || IS_WINDOWS || this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // There is nobody left in it.
    }
  }
}
