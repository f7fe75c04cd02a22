import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Calls `onLine` with each line of a stream. */
export function lines(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', onLine);
}
