import { StoreUnavailable, type Store } from '../../store';

/** Told of each call: what kind it was, how long it took, s, and whether the store was away. */
export type Note<Kind extends string> = (kind: Kind, seconds: number, away: boolean) => void;

export type StoreCall = 'read' | 'write';

const WRITES: ReadonlySet<string> = new Set<keyof Store>([
  'openUpload',
  'addItems',
  'seal',
  'dropUpload',
  'requestCancel',
  'pause',
  'resume',
  'deleteJob',
  'appendLog',
  'retry',
  'workflowStarted',
  'openUnit',
  'settle',
  'recover',
  'suspect',
  'diedAlone',
  'endCancelled',
  'finalize',
  'beat',
  'retire',
  'lease',
  'touch',
  'nextGeneration',
  'count',
  'journal',
  'noteVendorCancels',
]);

/** Not calls: they return at once. */
const UNTIMED: ReadonlySet<string> = new Set<keyof Store>(['onChange', 'close']);

/** The store, with a note of each call. One clock reading before and after: no cost per item. */
export function observeStore(store: Store, note: Note<StoreCall>): Store {
  const observed = Object.entries(store).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function' || UNTIMED.has(name)) return [name, member];
    const call = member as (...args: unknown[]) => Promise<unknown>;
    const kind = WRITES.has(name) ? 'write' : 'read';
    return [
      name,
      (...args: unknown[]) =>
        timed(
          () => call(...args),
          kind,
          note,
          (e) => e instanceof StoreUnavailable,
        ),
    ];
  });
  return Object.fromEntries(observed) as Store;
}

/** Does `work` and notes how long it took, however it ended. */
export async function timed<T, Kind extends string>(
  work: () => Promise<T>,
  kind: Kind,
  note: Note<Kind>,
  isAway: (error: unknown) => boolean,
): Promise<T> {
  const from = performance.now();
  const seconds = (): number => (performance.now() - from) / 1_000;
  try {
    const result = await work();
    note(kind, seconds(), false);
    return result;
  } catch (error) {
    note(kind, seconds(), isAway(error));
    throw error;
  }
}
