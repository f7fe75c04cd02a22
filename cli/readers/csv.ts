import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { types } from 'node:util';
import { UsageError } from '../failure';
import { lazy } from '../lazy';
import type { Row } from './row';

/** A quote that is never closed is not to collect the file in memory. */
const MAX_RECORD_CHARS = 16_000_000;

/**
 * The rows of a CSV file as objects by the names of its header. Values stay text, also numbers: only the capability
 * knows whether `007` is a number. An empty field is null.
 */
export async function* readCsv(texts: AsyncIterable<string>): AsyncGenerator<Row> {
  const parser = lazy.csv().parse({
    columns: checkHeader,
    info: true,
    // Said, since what is not is taken from the first line: in a file that mixes them, the rest would be part of a value.
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: MAX_RECORD_CHARS,
    skip_empty_lines: true,
  });
  // Errors of the source arrive through the parser, which the pipeline destroys with them.
  const done = pipeline(Readable.from(texts, { objectMode: true }), parser).catch(() => undefined);
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      yield { value: withNulls(record), line: info.lines };
    }
  } catch (error) {
    throw isCsvError(error) ? new UsageError(error.message, { cause: error }) : error;
  } finally {
    parser.destroy();
    await done;
  }
}

interface Parsed {
  readonly record: Record<string, string | null>;
  readonly info: { readonly lines: number };
}

/** Here and not as the parser's `cast`, which doubles its time. */
function withNulls(record: Parsed['record']): Parsed['record'] {
  for (const name in record) if (record[name] === '') record[name] = null;
  return record;
}

function checkHeader(names: string[]): string[] {
  const seen = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (name.trim() === '') throw new UsageError(`line 1: column ${at + 1} of the header has no name`);
    if (seen.has(name)) throw new UsageError(`line 1: the header has the column ${JSON.stringify(name)} twice`);
    seen.add(name);
  }
  return names;
}

function isCsvError(error: unknown): error is Error {
  return types.isNativeError(error) && ((error as NodeJS.ErrnoException).code ?? '').startsWith('CSV_');
}
