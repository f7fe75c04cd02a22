import { isUtf8 } from 'node:buffer';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** The text of bytes, exactly. @throws Error where a decoder would put U+FFFD in place of what it cannot read. */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error('it is not UTF-8');
  return bytes.toString('utf8');
}

/** Passes over a byte order mark at the beginning: some editors and spreadsheets write one. */
export async function* withoutBom(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!first) {
      yield chunk;
      continue;
    }
    first = Buffer.concat([first, chunk]);
    if (first.length < BOM.length && BOM.subarray(0, first.length).equals(first)) continue;
    const rest = first.subarray(BOM.equals(first.subarray(0, BOM.length)) ? BOM.length : 0);
    first = undefined;
    if (rest.length > 0) yield rest;
  }
  if (first && first.length > 0) yield first;
}
