import { addVendorCancels } from '../jobs';
import type { Journal } from '../../port';
import type { SqlDialect } from '../dialect';
import { openWaitsOf } from '../waits';
import { pinnedBatches } from './batches';
import { openIntents } from './open-calls';
import { writeJournal } from './write';

/** Paid calls and waits. */
export function createJournal(dialect: SqlDialect, now: () => number): Journal {
  const { read, write } = dialect;
  return {
    journal: (writes) => write((trx) => writeJournal(dialect, trx, writes, now())),
    pinnedBatches: (fence, set) => pinnedBatches(dialect, fence, set),
    openIntents: (no) => read((db) => openIntents(dialect, db, no)),
    openWaitsOf: (no, page) => read((db) => openWaitsOf(db, no, page)),

    noteVendorCancels: (no, sent, failed) => write((trx) => addVendorCancels(trx, no, { sent, failed })),
  };
}
