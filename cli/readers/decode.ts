import { UsageError } from '../failure';

/**
 * Bytes as UTF-8 text, without a byte order mark. Anything else is refused: silently replaced characters would become
 * the input of paid work.
 */
export async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let read = 0;
  const take = (chunk?: Buffer): string => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    } catch (error) {
      throw new UsageError(`it is not UTF-8 text (after byte ${read}): save it as UTF-8`, { cause: error });
    }
  };
  for await (const chunk of bytes) {
    const text = take(chunk);
    read += chunk.length;
    if (text !== '') yield text;
  }
  const rest = take();
  if (rest !== '') yield rest;
}
