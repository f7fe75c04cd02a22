import { FRESH } from '../model/attempts';
import { indexes, type IndexSet } from '../model/index-set';
import { latch } from '../test/support/latch';
import { ItemSource, type WorkItem } from './item-source';

const MB = 1_000_000;

/** A source of items with inputs of the given sizes, and the pages that it read. */
function sourceOf(sizes: readonly number[], before: () => Promise<void> = () => Promise.resolve()) {
  const pages: number[][] = [];
  const inputs = async (_: number, set: IndexSet) => {
    const page = [...indexes(set)];
    pages.push(page);
    await before();
    return page.map((index) => ({ index, id: `i${index}`, input: '1', resume: null }));
  };
  // Indexes need not be neighbours.
  const open = sizes.map((bytes, i) => ({ index: 2 * i, bytes, history: { ...FRESH, attempts: i } }));
  return { source: new ItemSource({ inputs }, 1, open), pages };
}
async function all(source: ItemSource): Promise<WorkItem[]> {
  const items: WorkItem[] = [];
  for (let item = await source.next(); item; item = await source.next()) items.push(item);
  return items;
}

describe('the source of a unit', () => {
  it('hands out every item once, in order, with its history', async () => {
    const { source } = sourceOf([1, 1, 1]);
    expect(await all(source)).toEqual(
      [0, 1, 2].map((i) => ({
        index: 2 * i,
        id: `i${2 * i}`,
        input: '1',
        resume: null,
        history: { ...FRESH, attempts: i },
      })),
    );
  });

  it('reads a page of 4 MB at a time, and an item that is larger alone', async () => {
    const { source, pages } = sourceOf([MB, MB, MB, MB, MB, 9 * MB, 2 * MB, 3 * MB]);
    await all(source);
    expect(pages).toEqual([[0, 2, 4, 6], [8], [10], [12], [14]]);
  });

  it('reads at most a thousand items at a time', async () => {
    const { source, pages } = sourceOf(Array.from({ length: 2_500 }, () => 1));
    await all(source);
    expect(pages.map((page) => page.length)).toEqual([1_000, 1_000, 500]);
  });

  it('reads nothing before it is asked, and a page once however many slots ask', async () => {
    const { source, pages } = sourceOf([1, 1, 1]);
    expect(pages).toEqual([]);
    expect([source.peek(), source.now()]).toEqual([undefined, undefined]);
    const items = await Promise.all([1, 2, 3, 4, 5].map(() => source.next()));
    expect(items.map((item) => item?.index)).toEqual([0, 2, 4, undefined, undefined]);
    expect(pages).toHaveLength(1);
  });

  it('knows what it did not hand out, read or not', async () => {
    const { source } = sourceOf([3 * MB, 1, 3 * MB, 1]);
    expect(source.rest()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await source.next();
    expect(source.peek()?.index).toBe(2);
    expect(source.rest()).toEqual([2, 3, 4, 5, 6, 7]);
    await all(source);
    expect(source.rest()).toEqual([]);
  });

  it('counts a page that is being read as not handed out', async () => {
    const gate = latch();
    const { source } = sourceOf([1, 1], () => gate.promise);
    const next = source.next();
    expect(source.rest()).toEqual([0, 1, 2, 3]);
    gate.open();
    await next;
  });

  it('fails who asks when a page cannot be read, and reads it again for who asks next', async () => {
    let away = true;
    const { source } = sourceOf([1], () => (away ? Promise.reject(new Error('away')) : Promise.resolve()));
    await expect(source.next()).rejects.toThrow('away');
    away = false;
    expect(await source.next()).toMatchObject({ index: 0 });
  });
});
