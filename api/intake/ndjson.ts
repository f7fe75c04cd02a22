import { Problem } from '../problems';
import { MAX_INPUT_BYTES, type Upload } from './upload';

/** A line may be a little longer than its input: it has the id too. */
const MAX_LINE_BYTES = MAX_INPUT_BYTES + 10_000;

const NEWLINE = 10;

/** Splits bytes into lines without copying them more than once; whole lines are given as text. */
async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ text: string; no: number }[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let no = 0;
  for await (const chunk of chunks) {
    const complete: { text: string; no: number }[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      no++;
      complete.push({
        text: restBytes === 0 ? piece.toString('utf8') : Buffer.concat([...rest, piece]).toString('utf8'),
        no,
      });
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      rest.push(chunk.subarray(start));
      restBytes += chunk.length - start;
    }
    if (complete.length > 0) yield complete;
    if (restBytes > MAX_LINE_BYTES)
      throw new Problem('item_too_large', `line ${no + 1} is over ${MAX_LINE_BYTES} bytes`, { line: no + 1 });
  }
  if (restBytes > 0) yield [{ text: Buffer.concat(rest).toString('utf8'), no: no + 1 }];
}

/** Reads one item a line into the upload. Empty lines are passed over. @throws Problem */
export async function readNdjson(chunks: AsyncIterable<Buffer>, upload: Upload): Promise<void> {
  for await (const complete of lines(chunks)) {
    for (const { text, no } of complete) {
      if (text.trim() === '') continue;
      if (upload.add(parseLine(text, no), `line ${no}`)) await upload.flush();
    }
  }
  await upload.flush();
}

function parseLine(text: string, no: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem('invalid_line', `line ${no}: ${error instanceof Error ? error.message : String(error)}`, {
      line: no,
    });
  }
}
