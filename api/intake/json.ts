import { Problem } from '../problems';
import { decodeUtf8, withoutBom } from './decode';
import type { Head } from './head';
import { JsonScanner } from './json-scanner';
import { MAX_ITEM_BYTES, type Upload } from './upload';

/** Reads `{capability, ..., items: [...]}` as it comes: items go into the upload, the rest into the head. @throws Problem */
export async function readJson(chunks: AsyncIterable<Buffer>, upload: Upload, head: Head): Promise<void> {
  let field: string | undefined;
  let seenItems = false;
  const scanner = new JsonScanner({
    field: (name) => {
      field = parse(name, 'the name of a field') as string;
      if (field !== 'items') {
        head.announce(field);
        return false;
      }
      if (seenItems) throw new Problem('invalid_request', 'the body has items more than once');
      return (seenItems = true);
    },
    value: (text) => head.set(field!, parse(text, field!)),
    element: (text) => {
      const where = `item ${upload.items + 1}`;
      upload.add(parse(text, where), where);
    },
    held: (bytes) => {
      if (bytes <= MAX_ITEM_BYTES) return;
      if (field === 'items')
        throw new Problem('item_too_large', `item ${upload.items + 1} is over ${MAX_ITEM_BYTES} bytes`);
      throw new Problem('body_too_large', `the field ${field ?? 'name'} is over ${MAX_ITEM_BYTES} bytes`);
    },
  });
  let any = false;
  for await (const chunk of withoutBom(chunks)) {
    any = true;
    scanner.write(chunk);
    await upload.flushIfDue();
  }
  if (!any) throw new Problem('invalid_json', 'the body is empty');
  if (!scanner.complete) throw new Problem('truncated_body', 'the JSON of the body ends before it is complete');
  await upload.flush();
}

function parse(text: Buffer, where: string): unknown {
  try {
    return JSON.parse(decodeUtf8(text));
  } catch (error) {
    throw new Problem('invalid_json', `${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
