import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Writes and waits until the stream wants more, so that a slow reader slows us instead of filling the memory. */
export async function write(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  if (stream.write(chunk)) return;
  // A stream that is closed drains no more; its end is told by its 'error' event.
  if (!stream.destroyed) await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
}

export function writeLine(stream: Writable, line: string): Promise<void> {
  return write(stream, `${line}\n`);
}

export function writeJson(stream: Writable, value: unknown): Promise<void> {
  return writeLine(stream, JSON.stringify(value));
}

/** Resolves when all that was written has left this process. */
export function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded) return resolve();
    stream.once('close', () => resolve());
    stream.write('', () => resolve());
  });
}

/** Text of others for a terminal: control characters, which could move the cursor or worse, are shown as escapes. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (char) => {
    return char === '\t' ? ' ' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
