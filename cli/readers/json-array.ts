import { UsageError } from '../failure';
import { lazy } from '../lazy';
import type { Row } from './row';

/** The elements of one JSON array, as they arrive. */
export async function* readJsonArray(texts: AsyncIterable<string>): AsyncGenerator<Row> {
  const { JSONParser } = lazy.json();
  const parser = new JSONParser({ paths: ['$.*'], keepStack: false });
  let line = 1;
  let found: Row[] = [];
  let ended = false;
  parser.onValue = ({ value }) => found.push({ value, line });
  parser.onEnd = () => (ended = true);
  const parse = (text: string): void => {
    try {
      parser.write(text);
    } catch (error) {
      throw new UsageError(`line ${line} is not JSON: ${firstSentence(error)}`, { cause: error });
    }
  };
  let begun = false;
  for await (const text of texts) {
    begun ||= requireArray(text);
    // Line by line, since the parser's own positions are bytes, which nobody finds in an editor.
    for (const piece of text.split(/(?<=\n)/)) {
      parse(piece);
      if (piece.endsWith('\n')) line++;
    }
    yield* found;
    found = [];
  }
  if (begun && !ended) throw new UsageError(`line ${line}: the JSON array ends before it is complete`);
}

/** False while there is only white space. */
function requireArray(text: string): boolean {
  const first = text.trimStart()[0];
  if (first === undefined) return false;
  if (first !== '[') {
    throw new UsageError('it is not a JSON array; if it has one record a line, say --format ndjson');
  }
  return true;
}

function firstSentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(/\.\s/)[0] ?? message;
}
