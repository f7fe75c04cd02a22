/**
 * What `submit` and `run` read: NDJSON, a JSON array or CSV, as a stream.
 *
 *   source.ts  where the bytes are from    format.ts   which of the three it is
 *   decode.ts  bytes to text               records.ts  rows to items with ids
 */
import type { Readable } from 'node:stream';
import { UsageError } from '../failure';
import { decode } from './decode';
import { formatOfName, READERS, sniff, type Format } from './format';
import { toItems, type NewItem } from './records';
import { openSource } from './source';

export { FORMATS, type Format } from './format';
export type { NewItem } from './records';

export interface ReadOptions {
  /** Default by the extension of the file's name, else by how it begins. */
  format?: Format | undefined;
  /** The field that holds the id; default the row number. */
  idField?: string | undefined;
  /** For the file `-`. */
  stdin: Readable;
}

/**
 * The items of a file, as fast as they are taken and in constant memory.
 * @throws UsageError, at once or on the way, that names the file, and the row or line.
 */
export async function readItems(file: string, options: ReadOptions): Promise<AsyncGenerator<NewItem>> {
  const { name, bytes } = await openSource(file, options.stdin);
  return named(name, read(decode(bytes), options.format ?? formatOfName(file), options.idField));
}

async function* read(
  texts: AsyncGenerator<string>,
  given: Format | undefined,
  idField: string | undefined,
): AsyncGenerator<NewItem> {
  let beginning = '';
  let ended = false;
  while (!ended && beginning.trimStart() === '') {
    const next = await texts.next();
    ended = next.done ?? false;
    if (!next.done) beginning += next.value;
  }
  const format = given ?? sniff(beginning);
  yield* toItems(READERS[format](prepend(beginning, texts)), idField);
}

async function* prepend(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first !== '') yield first;
  yield* rest;
}

async function* named(name: string, items: AsyncGenerator<NewItem>): AsyncGenerator<NewItem> {
  try {
    yield* items;
  } catch (error) {
    if (!(error instanceof UsageError) || error.message.startsWith(`${name}: `)) throw error;
    throw new UsageError(`${name}: ${error.message}`, { cause: error });
  }
}
