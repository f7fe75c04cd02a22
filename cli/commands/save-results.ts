import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../failure';

/**
 * Writes NDJSON to a file, which is there only when it is whole, and gives the number of lines.
 * @throws UsageError when it cannot be written, or what `bytes` throws.
 */
export async function saveResults(bytes: AsyncIterable<Uint8Array>, file: string): Promise<number> {
  const part = `${file}.part`;
  let lines = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      for (const byte of chunk) if (byte === 10) lines++;
      yield chunk;
    }
  };
  try {
    await pipeline(counted, createWriteStream(part));
    await rename(part, file);
    return lines;
  } catch (error) {
    await rm(part, { force: true });
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === 'open' || syscall === 'write' || syscall === 'rename')
      throw new UsageError(`${file}: ${message}`, { cause: error });
    throw error;
  }
}
