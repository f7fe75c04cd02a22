import type { Activities } from '../../activities';
import type { Store } from '../../store';
import type { Database } from '../../store/sql/dialect';

/** A fault of the product, planted by standing in for a part of it. */
export interface Bug {
  readonly name: string;
  /** What the store does instead. `db` is the database itself, behind every fault. */
  readonly store?: (store: Store, db: Database) => Partial<Store>;
  readonly activities?: (activities: Activities) => Partial<Activities>;
}
