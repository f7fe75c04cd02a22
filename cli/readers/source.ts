import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from '../failure';

/** The bytes of what is read, and what they are called in a message. */
export interface Source {
  readonly name: string;
  readonly bytes: AsyncIterable<Buffer>;
}

const CHUNK_BYTES = 256 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
  EPERM: 'it may not be read',
};

/**
 * Opens a file, or the standard input for `-`.
 * @throws UsageError when it cannot be read.
 */
export async function openSource(file: string, stdin: Readable): Promise<Source> {
  if (file === '-') return { name: 'standard input', bytes: stdin };
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, error);
  });
  if (stats.isDirectory()) throw new UsageError(`${file}: it is a folder`);
  return { name: file, bytes: readFile(file) };
}

async function* readFile(file: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(file, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}

function unreadable(file: string, error: NodeJS.ErrnoException): Error {
  return new UsageError(`${file}: ${REASONS[error.code ?? ''] ?? error.message}`, { cause: error });
}
