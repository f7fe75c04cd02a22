import type { ItemHistory } from '../model/attempts';
import { fromIndexes, type IndexSet } from '../model/index-set';
import type { ItemInput, OpenItem, Store } from '../store';

/** An item about to be run; its input is still JSON text. */
export interface WorkItem extends ItemInput {
  readonly history: ItemHistory;
}

/** A unit's inputs are read this many at a time at the most, and this many bytes: memory stays flat for large ones. */
const PAGE = { items: 1_000, bytes: 4_000_000 };

/** Hands out a unit's open items one after the other, reading their inputs a page at a time. */
export class ItemSource {
  private loaded: WorkItem[] = [];
  private given = 0;
  private read = 0;
  private loading: Promise<void> | undefined;

  constructor(
    private readonly store: Pick<Store, 'inputs'>,
    private readonly jobNo: number,
    private readonly open: readonly OpenItem[],
  ) {}

  /** The next item, or undefined when there is none left. Slots may ask at the same time. */
  async next(): Promise<WorkItem | undefined> {
    for (;;) {
      const item = this.now();
      if (item) return item;
      if (this.read >= this.open.length && !this.loading) return undefined;
      await this.fill();
    }
  }

  /** Sees to it that the next item, if there is one, is at hand. */
  async fill(): Promise<void> {
    while (this.given >= this.loaded.length && this.read < this.open.length) {
      this.loading ??= this.load().finally(() => {
        this.loading = undefined;
      });
      await this.loading;
    }
  }

  /** Takes the next item if it is at hand. */
  now(): WorkItem | undefined {
    return this.given < this.loaded.length ? this.loaded[this.given++] : undefined;
  }

  /** Shows the next item if it is at hand. */
  peek(): WorkItem | undefined {
    return this.loaded[this.given];
  }

  /** How many items, from this one that was just handed out on, have neighbouring indexes; at most `most`. */
  neighbours(index: number, most: number): number {
    let count = 1;
    while (count < most && this.loaded[this.given + count - 1]?.index === index + count) count++;
    return count;
  }

  /** What was not handed out. */
  rest(): IndexSet {
    const pending = this.loaded.slice(this.given).map((item) => item.index);
    return fromIndexes([...pending, ...this.open.slice(this.read).map((item) => item.index)]);
  }

  private async load(): Promise<void> {
    const page: OpenItem[] = [];
    let bytes = 0;
    for (let i = this.read; i < this.open.length && page.length < PAGE.items; i++) {
      const item = this.open[i]!;
      bytes += item.bytes;
      if (page.length > 0 && bytes > PAGE.bytes) break;
      page.push(item);
    }
    const rows = await this.store.inputs(this.jobNo, fromIndexes(page.map((item) => item.index)));
    this.loaded = rows.map((row, position) => ({ ...row, history: page[position]!.history }));
    this.given = 0;
    this.read += page.length;
  }
}
