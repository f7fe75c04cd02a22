import { TextDecoder } from 'node:util';

/** How far into a document a charset declaration is looked for, as browsers do. */
const PRESCAN_BYTES = 1_024;

/** A decoder for the label; undefined when there is no label, or no such charset. */
function decoderFor(label: string | undefined): TextDecoder | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label);
  } catch {
    return undefined;
  }
}

const charsetIn = (text: string): string | undefined => /charset\s*=\s*["']?([\w-]+)/i.exec(text)?.[1];

/**
 * The text of a document. Its charset is that of the content type, else that of its own `<meta>`, else UTF-8; an
 * unknown charset is as good as none. Bytes that do not fit become U+FFFD.
 */
export function decode(body: Buffer, contentType: string): string {
  const head = body.toString('latin1', 0, PRESCAN_BYTES);
  const meta = /<meta[^>]+charset[^>]+/i.exec(head)?.[0] ?? '';
  const decoder = decoderFor(charsetIn(contentType)) ?? decoderFor(charsetIn(meta)) ?? new TextDecoder();
  return decoder.decode(body);
}
