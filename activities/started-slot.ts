import type { StartedPlace } from './deps';
import type { WorkItem } from './item-source';
import type { UnitRun } from './unit-run';

/** After this many items that ended at once, the next ones are announced together, this many at a time. */
const QUICK = 16;

/**
 * Says which item a slot starts. Items that take no time are announced by the dozen, since a write for each costs more
 * than they do: if one of them ends the process, its neighbours are suspects along with it, and are cleared.
 */
export class StartedSlot {
  private quick = 0;
  private from = 0;
  private to = 0;

  constructor(
    private readonly unit: UnitRun,
    private readonly place: StartedPlace | undefined,
  ) {}

  enter({ index }: WorkItem): void {
    if (!this.place || (index >= this.from && index < this.to)) return;
    const count = this.quick < QUICK ? 1 : this.unit.source.neighbours(index, QUICK);
    this.place.enter(this.unit.buffer.fence, index, count);
    this.from = index;
    this.to = index + count;
  }

  /** The item has ended; `atOnce`: before anything else could run. */
  ended(atOnce: boolean): void {
    this.quick = atOnce ? this.quick + 1 : 0;
    if (!atOnce) this.to = this.from;
  }

  free(): void {
    this.place?.free();
  }
}
