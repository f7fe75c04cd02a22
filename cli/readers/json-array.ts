import { JsonScanner } from '../../api/intake/json-scanner';
import { UsageError } from '../failure';
import type { Row } from './row';

/** The scanner of the API cuts the elements out of a field of an object, so the array is shown to it as one. */
const BEFORE = Buffer.from('{"rows":');
const AFTER = Buffer.from('}');

/** The elements of one JSON array, as they arrive. */
export async function* readJsonArray(texts: AsyncIterable<string>): AsyncGenerator<Row> {
  let line = 1;
  let found: Row[] = [];
  const scanner = new JsonScanner({
    field: () => true,
    value: () => undefined,
    element: (text) => found.push({ value: JSON.parse(text.toString('utf8')) as unknown, line }),
    held: () => undefined,
  });
  const scan = (bytes: Buffer): void => {
    try {
      scanner.write(bytes);
    } catch (error) {
      throw new UsageError(`line ${line} is not JSON: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  };
  let begun = false;
  for await (const text of texts) {
    if (!begun && requireArray(text)) {
      begun = true;
      scan(BEFORE);
    }
    // Line by line, since the scanner's own positions are bytes, which nobody finds in an editor.
    for (const piece of text.split(/(?<=\n)/)) {
      if (begun) scan(Buffer.from(piece));
      if (piece.endsWith('\n')) line++;
    }
    yield* found;
    found = [];
  }
  if (!begun) return;
  try {
    scanner.write(AFTER);
  } catch (error) {
    throw new UsageError(`line ${line}: the JSON array ends before it is complete`, { cause: error });
  }
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
