/**
 * What a process leaves behind in a folder for the one that started it: which items had started, and, where it could
 * still tell, why it ended. The folder is made for one process, and read and removed when that has ended.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorInfo } from '../model/error-info';
import type { StartedItem } from '../store';
import { readStarted } from './started-log';

/** @param within the folder of the process that starts it, so that they go together; default a temporary one. */
export function makeTraces(within = tmpdir()): string {
  return mkdtempSync(join(within, 'itemwise-worker-'));
}

export function startedFile(folder: string): string {
  return join(folder, 'started');
}

/** Says why this process is about to end. The first word stands: what follows of it is not the reason. */
export function writeReason(folder: string, why: ErrorInfo): void {
  try {
    writeFileSync(reasonFile(folder), JSON.stringify(why), { flag: 'wx' });
  } catch {
    // It was said before, or cannot be; the end itself must not fail.
  }
}

/** What a process left; nothing where it left nothing that can be read. */
export interface Traces {
  readonly started: readonly StartedItem[];
  readonly reason: ErrorInfo | undefined;
}

export function takeTraces(folder: string): Traces {
  const traces = {
    started: attempt(() => readStarted(startedFile(folder))) ?? [],
    reason: attempt(() => JSON.parse(readFileSync(reasonFile(folder), 'utf8')) as ErrorInfo),
  };
  removeTraces(folder);
  return traces;
}

export function removeTraces(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function reasonFile(folder: string): string {
  return join(folder, 'reason.json');
}
