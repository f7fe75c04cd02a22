import { DuplicateItemId, isStorableName, type NewItem, type Store } from '../../store';
import { Problem } from '../problems';
import { MAX_ITEM_ID_BYTES } from '../schemas';
import { findFlaw, MAX_DEPTH } from './depth';

/**
 * Items are written in transactions of about so many, so many bytes, or when they are so old: a slow upload hears soon
 * of an id that it has twice, and is not taken for a broken one.
 */
const BATCH = { items: 1_000, bytes: 1_000_000, ms: 500 };

/** Largest input of an item, bytes of JSON. */
export const MAX_INPUT_BYTES = 1_000_000;

/** Largest item as it is sent: it has the id too. */
export const MAX_ITEM_BYTES = MAX_INPUT_BYTES + 10_000;

/** Items on their way into the store, under an upload that nobody can see before it is sealed. */
export class Upload {
  private batch: NewItem[] = [];
  private bytes = 0;
  private flushedAt = Date.now();
  items = 0;

  constructor(
    private readonly store: Pick<Store, 'addItems'>,
    readonly no: number,
    private readonly maxItems: number,
  ) {}

  /** @throws Problem when the item cannot be taken. */
  add(item: unknown, where: string): void {
    if (this.items >= this.maxItems) throw new Problem('too_many_items', `a job has at most ${this.maxItems} items`);
    const { id, input } = checkItem(item, where);
    const text = JSON.stringify(input);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_INPUT_BYTES) {
      throw new Problem(
        'item_too_large',
        `${where}: the input is ${bytes} bytes of JSON, over the limit of ${MAX_INPUT_BYTES}`,
      );
    }
    this.batch.push({ index: this.items++, id, input: text });
    this.bytes += bytes;
  }

  /** Writes what has gathered, if it is enough or old enough. Called after each chunk, which holds but so many items. */
  async flushIfDue(): Promise<void> {
    const due =
      this.batch.length >= BATCH.items || this.bytes >= BATCH.bytes || Date.now() - this.flushedAt >= BATCH.ms;
    if (due) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.batch.length === 0) return;
    const { batch } = this;
    this.batch = [];
    this.bytes = 0;
    this.flushedAt = Date.now();
    try {
      await this.store.addItems(this.no, batch);
    } catch (error) {
      if (!(error instanceof DuplicateItemId)) throw error;
      const { itemId, first, second } = error;
      const detail = `the id ${JSON.stringify(itemId)} stands at items ${first + 1} and ${second + 1}`;
      throw new Problem('duplicate_item_id', detail, { positions: [first + 1, second + 1] });
    }
  }
}

function checkItem(item: unknown, where: string): { id: string; input: unknown } {
  if (typeof item !== 'object' || item === null || !('id' in item) || !('input' in item)) {
    throw new Problem('invalid_item', `${where} is not an object with the fields id and input`);
  }
  const { id, input } = item;
  if (typeof id !== 'string') throw new Problem('invalid_item_id', `${where}: the id is not a text`);
  if (id === '') throw new Problem('invalid_item_id', `${where}: the id is empty`);
  // A text of n UTF-16 units has at most 3n bytes: most ids need no counting.
  if (id.length * 3 > MAX_ITEM_ID_BYTES && Buffer.byteLength(id) > MAX_ITEM_ID_BYTES) {
    throw new Problem('invalid_item_id', `${where}: the id is over ${MAX_ITEM_ID_BYTES} bytes`);
  }
  if (!isStorableName(id)) throw new Problem('invalid_item_id', `${where}: the id has U+0000 or a lone surrogate`);
  const flaw = findFlaw(input);
  if (flaw === 'too_deep') throw new Problem('too_deep', `${where} is nested over ${MAX_DEPTH} levels deep`);
  if (flaw === 'infinite') throw new Problem('invalid_item', `${where} has a number beyond 1.8e308`);
  return { id, input };
}
