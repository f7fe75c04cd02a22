import { fromIndexes, has, union, type IndexSet } from '../model/index-set';
import { FRESH } from '../model/attempts';
import type { Fence, OpenItem, Store } from '../store';
import type { WorkItem } from './item-source';

/** A batch with a paid call: it is formed again of the same items, so that its calls are found in the journal. */
export interface PinnedBatch {
  /** All of its members, ascending. */
  readonly works: readonly WorkItem[];
  /** Those that are to be settled; the others have their outcome, or are parked for later. */
  readonly live: ReadonlySet<number>;
}

export interface Pinned {
  readonly batches: readonly PinnedBatch[];
  /** The unit's other items. */
  readonly open: readonly OpenItem[];
  /** Items whose batch another unit has in hand: they are left to it. */
  readonly taken: IndexSet;
}

/** Takes the batches that a unit's items keep to. Members that were not sent with this unit come along. */
export async function takePinned(
  store: Pick<Store, 'pinnedBatches' | 'openItems' | 'inputs'>,
  fence: Fence,
  open: readonly OpenItem[],
): Promise<Pinned> {
  const found = await store.pinnedBatches(fence, fromIndexes(open.map((item) => item.index)));
  let kept: IndexSet = [];
  const batches: PinnedBatch[] = [];
  const taken: number[] = [];
  for (const { members, mine } of found) {
    kept = union(kept, members);
    if (mine) batches.push(await load(store, fence.jobNo, members));
    else taken.push(...open.map((item) => item.index).filter((index) => has(members, index)));
  }
  return { batches, open: open.filter((item) => !has(kept, item.index)), taken: fromIndexes(taken) };
}

async function load(store: Pick<Store, 'openItems' | 'inputs'>, no: number, members: IndexSet): Promise<PinnedBatch> {
  const [{ open }, inputs] = [await store.openItems(no, members, 'quarantine'), await store.inputs(no, members)];
  const histories = new Map(open.map((item) => [item.index, item.history]));
  return {
    works: inputs.map((input) => ({ ...input, history: histories.get(input.index) ?? FRESH })),
    live: new Set(histories.keys()),
  };
}

/** What of a batch is still to be settled. */
export function liveOf(batch: PinnedBatch): IndexSet {
  return fromIndexes(batch.works.map((work) => work.index).filter((index) => batch.live.has(index)));
}
