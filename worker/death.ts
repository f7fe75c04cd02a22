import { getHeapStatistics } from 'node:v8';
import { toErrorInfo, type ErrorInfo } from '../model/error-info';

/** How a process ended, as seen from outside. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** V8 has said on stderr that there is no memory left. */
  readonly outOfMemory: boolean;
  /** What the process itself has said, see `writeReason`. */
  readonly reason: ErrorInfo | undefined;
}

/** Signals by which the machine or native code ends a process. */
const CRASHES: ReadonlySet<NodeJS.Signals> = new Set(['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP']);

/** Why a process ended that nobody had asked to: for a person who has an item that did it before them. */
export function whyItDied({ code, signal, outOfMemory, reason }: ProcessEnd): ErrorInfo {
  if (reason) return reason;
  if (outOfMemory && (signal !== null || (code ?? 0) >= 128)) return outOfMemoryInfo();
  if (signal !== null) return { code: 'killed', message: killedBy(signal) };
  return {
    code: 'exited',
    message: `its process ended with exit code ${code}: something called process.exit(); throw an error instead`,
  };
}

/** The limit is that of this process: its children are started with the same options. */
function outOfMemoryInfo(): ErrorInfo {
  const limitMb = Math.round(getHeapStatistics().heap_size_limit / 1_048_576);
  return {
    code: 'out_of_memory',
    message: `its process ran out of memory (V8 heap limit ${limitMb} MB): give the item less data, or raise the limit with NODE_OPTIONS=--max-old-space-size=<MB>`,
  };
}

function killedBy(signal: NodeJS.Signals): string {
  if (signal === 'SIGKILL')
    return 'its process was killed with SIGKILL: by the system when memory ran out (the log of the system or the container says so), or by something that kills processes';
  if (CRASHES.has(signal)) return `its process crashed with ${signal}: look at the native modules that it uses`;
  return `its process was ended with ${signal}: something sent it that signal`;
}

export function eventLoopBlocked(limitMs: number): ErrorInfo {
  return {
    code: 'event_loop_blocked',
    message: `its event loop was blocked for ${limitMs} ms: split what computes that long into steps with an await between them, or move it to a worker thread`,
  };
}

export function unhandledRejection(reason: unknown): ErrorInfo {
  const error = toErrorInfo(reason, 'unhandled_rejection');
  return {
    ...error,
    message: `a promise was rejected and nothing handled it (${error.message}): await it, or catch its error`,
  };
}

export function uncaughtException(thrown: unknown): ErrorInfo {
  const error = toErrorInfo(thrown, 'uncaught_exception');
  return {
    ...error,
    message: `an error was thrown where nothing could catch it (${error.message}): handle the 'error' event of emitters, and catch in callbacks`,
  };
}

export function notStarted(error: Error): ErrorInfo {
  return { code: 'not_started', message: `its process could not be started: ${error.message}` };
}
