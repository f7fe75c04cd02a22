import { StoreUnavailable, type JournalAnswer, type JournalWrite, type Store } from '../../store';
import type { Clock } from '../clock';
import type { Log } from '../deps';

interface Entry {
  readonly write: JournalWrite;
  readonly answer: (answer: JournalAnswer) => void;
  readonly fail: (error: unknown) => void;
}

/** Facts that the store did not take are offered again this often, ms. */
const AGAIN_MS = 1_000;

/**
 * Writes the journal for all units of this worker: what is asked while a transaction is under way goes into the next one
 * together, so that fifty calls at once cost no more commits than one.
 */
export class JournalWriter {
  private waiting: Entry[] = [];
  private writing = false;
  /** Results whose write failed. They were paid for: offered again as long as this process lives. */
  private owed: JournalWrite[] = [];
  private stopTimer: (() => void) | undefined;

  constructor(
    private readonly store: Pick<Store, 'journal'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Resolves with the store's answer when it is durable.
   * @throws StoreUnavailable; a fact is kept then, and written when the store is back.
   */
  write(write: JournalWrite): Promise<JournalAnswer> {
    const answer = new Promise<JournalAnswer>((resolve, reject) => {
      this.waiting.push({ write, answer: resolve, fail: reject });
    });
    if (!this.writing) void this.writeAll();
    return answer;
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    // Calls that start in this turn of the loop come along.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const entries = this.waiting;
      this.waiting = [];
      try {
        const answers = await this.store.journal(entries.map((entry) => entry.write));
        entries.forEach((entry, position) => entry.answer(answers[position]!));
      } catch (error) {
        if (error instanceof StoreUnavailable || entries.length === 1) this.fail(entries, error);
        else await this.writeSingly(entries);
      }
    }
    this.writing = false;
  }

  /** Something that one call says cannot be stored: the others are not to suffer for it. */
  private async writeSingly(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      try {
        const [answer] = await this.store.journal([entry.write]);
        entry.answer(answer!);
      } catch (error) {
        this.fail([entry], error);
      }
    }
  }

  private fail(entries: readonly Entry[], error: unknown): void {
    if (error instanceof StoreUnavailable) this.owe(entries.map((entry) => entry.write));
    for (const entry of entries) entry.fail(error);
  }

  private owe(writes: readonly JournalWrite[]): void {
    this.owed.push(...writes.filter((write) => write.type !== 'intent' && write.type !== 'look'));
    if (this.owed.length === 0) return;
    this.log.warn({ results: this.owed.length }, 'the store does not take results of paid calls now; they are kept');
    this.stopTimer ??= this.clock.every(AGAIN_MS, () => void this.payBack());
  }

  private async payBack(): Promise<void> {
    this.stopTimer?.();
    this.stopTimer = undefined;
    const owed = this.owed;
    this.owed = [];
    try {
      await this.store.journal(owed);
    } catch (error) {
      if (error instanceof StoreUnavailable) this.owe(owed);
      else this.log.error({ err: error, results: owed.length }, 'results of paid calls cannot be stored');
    }
  }
}
