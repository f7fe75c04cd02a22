import type { TestItem } from '../job';

/** Most ids in one phrase. */
const NAMED = 3;

/** What things are called in a report. */
export class Names {
  constructor(private readonly items: readonly TestItem[]) {}

  /** `item a`, `items a and b`. */
  indexes(indexes: readonly number[]): string {
    return itemWords(indexes.map((index) => this.items[index]?.id ?? String(index)));
  }

  /** Whose call it is: a subject of the journal. */
  subject(subject: string): string {
    return subject.startsWith('i:') ? itemWords([subject.slice(2)]) : 'the batch';
  }
}

export function itemWords(ids: readonly string[]): string {
  const named = ids.slice(0, NAMED);
  const words = ids.length > NAMED ? [...named, `${ids.length - NAMED} more`] : named;
  const last = words[words.length - 1] ?? '';
  return words.length === 1 ? `item ${last}` : `items ${words.slice(0, -1).join(', ')} and ${last}`;
}
