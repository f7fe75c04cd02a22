import { Problem } from '../problems';
import { decodeUtf8, withoutBom } from './decode';
import { MAX_ITEM_BYTES, type Upload } from './upload';

const NEWLINE = 10;

interface Line {
  readonly bytes: Buffer;
  readonly no: number;
}

/** Splits bytes into lines without copying them more than once; gives those that end in a chunk together. */
async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let no = 0;
  for await (const chunk of chunks) {
    const complete: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      no++;
      complete.push({ bytes: restBytes === 0 ? piece : Buffer.concat([...rest, piece]), no });
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      rest.push(chunk.subarray(start));
      restBytes += chunk.length - start;
    }
    yield complete;
    if (restBytes > MAX_ITEM_BYTES)
      throw new Problem('item_too_large', `line ${no + 1} is over ${MAX_ITEM_BYTES} bytes`, { line: no + 1 });
  }
  if (restBytes > 0) yield [{ bytes: Buffer.concat(rest), no: no + 1 }];
}

/** Reads one item a line into the upload. Empty lines are passed over. @throws Problem */
export async function readNdjson(chunks: AsyncIterable<Buffer>, upload: Upload): Promise<void> {
  for await (const complete of lines(withoutBom(chunks))) {
    for (const { bytes, no } of complete) {
      const item = parseLine(bytes, no);
      if (item !== EMPTY) upload.add(item, `line ${no}`);
    }
    await upload.flushIfDue();
  }
  await upload.flush();
}

const EMPTY = Symbol('an empty line');

function parseLine(bytes: Buffer, no: number): unknown {
  try {
    const text = decodeUtf8(bytes);
    return text.trim() === '' ? EMPTY : JSON.parse(text);
  } catch (error) {
    throw new Problem('invalid_line', `line ${no}: ${error instanceof Error ? error.message : String(error)}`, {
      line: no,
    });
  }
}
