import { TokenParser, Tokenizer, TokenType } from '@streamparser/json';
import { Problem } from '../problems';
import { MAX_DEPTH } from './depth';
import type { Upload } from './upload';

/** The body itself, `items`, and an item's own depth. */
const MAX_BODY_DEPTH = MAX_DEPTH + 3;

/** Reads `{capability, ..., items: [...]}`: items go into the upload as they come, the rest is returned. @throws Problem */
export async function readJson(chunks: AsyncIterable<Buffer>, upload: Upload): Promise<Record<string, unknown>> {
  const head: Record<string, unknown> = {};
  let full = false;
  const tokenizer = new Tokenizer();
  const parser = new TokenParser({ paths: ['$.items.*', '$.*'], keepStack: false });
  let depth = 0;
  tokenizer.onToken = (token) => {
    if (token.token === TokenType.LEFT_BRACE || token.token === TokenType.LEFT_BRACKET) depth++;
    if (token.token === TokenType.RIGHT_BRACE || token.token === TokenType.RIGHT_BRACKET) depth--;
    if (depth > MAX_BODY_DEPTH) throw new Problem('too_deep', `the body is nested over ${MAX_BODY_DEPTH} levels deep`);
    parser.write(token);
  };
  parser.onValue = ({ value, key, stack }) => {
    // Two levels down is an item, one level down a field of the body.
    if (stack.length === 2) full = upload.add(value, `item ${upload.items + 1}`) || full;
    else if (key === 'items' && !Array.isArray(value)) throw new Problem('invalid_request', 'items is not an array');
    else if (key !== 'items') head[String(key)] = value;
  };
  let ended = false;
  parser.onEnd = () => (ended = true);
  const feed = (write: () => void): void => {
    try {
      write();
    } catch (error) {
      throw error instanceof Problem
        ? error
        : new Problem('invalid_json', error instanceof Error ? error.message : String(error));
    }
  };
  let any = false;
  for await (const chunk of chunks) {
    any = true;
    feed(() => tokenizer.write(chunk));
    if (full) {
      await upload.flush();
      full = false;
    }
  }
  if (!any) throw new Problem('invalid_json', 'the body is empty');
  feed(() => !tokenizer.isEnded && tokenizer.end());
  if (!ended) throw new Problem('truncated_body', 'the JSON of the body ends before it is complete');
  await upload.flush();
  return head;
}
