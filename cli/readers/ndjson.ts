import { UsageError } from '../failure';
import type { Row } from './row';

/** The API takes inputs up to 1 MB; what is longer by far is no NDJSON, and is not to be collected in memory. */
const MAX_LINE_CHARS = 16_000_000;

/** One JSON value a line. Empty lines are passed over, and counted. */
export async function* readNdjson(texts: AsyncIterable<string>): AsyncGenerator<Row> {
  let no = 0;
  for await (const line of lines(texts)) {
    no++;
    if (line.trim() === '') continue;
    yield { value: parse(line, no), line: no };
  }
}

async function* lines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const parts = text.split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) {
      yield rest + part;
      rest = '';
    }
    rest += last;
    if (rest.length > MAX_LINE_CHARS) {
      throw new UsageError(`a line is over ${MAX_LINE_CHARS} characters: is it a JSON array (--format json)?`);
    }
  }
  if (rest !== '') yield rest;
}

function parse(line: string, no: number): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new UsageError(`line ${no} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
