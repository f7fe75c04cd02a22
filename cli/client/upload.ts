import type { NewItem } from '../readers';

/** How much is sent at a time. */
const CHUNK_CHARS = 64 * 1024;

export interface Sent {
  items: number;
  bytes: number;
}

/**
 * Items as the NDJSON body of a submit.
 * @param onChunk told before each chunk how much is sent with it.
 */
export async function* toBody(items: AsyncIterable<NewItem>, onChunk: (sent: Sent) => void): AsyncGenerator<Buffer> {
  let text = '';
  const sent: Sent = { items: 0, bytes: 0 };
  const take = async (): Promise<Buffer> => {
    const chunk = Buffer.from(text);
    text = '';
    sent.bytes += chunk.length;
    onChunk({ ...sent });
    // An answer that came early, an error, is read now: a write to the connection that it closed would only be EPIPE.
    await new Promise((resolve) => setImmediate(resolve));
    return chunk;
  };
  for await (const { id, input } of items) {
    text += `${JSON.stringify({ id, input })}\n`;
    sent.items++;
    if (text.length >= CHUNK_CHARS) yield await take();
  }
  if (text !== '') yield await take();
}
