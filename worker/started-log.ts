import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { StartedLog, StartedPlace } from '../activities/deps';
import type { StartedItem } from '../store';

/** A record is job, generation, seq, first index and count, as doubles, and room. Job 0, which there is not, is a free place. */
const FIELDS = 8;
const RECORD_BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT;

/**
 * The started log in a file of fixed-size records, a place each. A write goes into the page cache, which outlives the
 * process however that ends. A record never crosses a page, so it is there whole or not at all.
 */
export class StartedFile implements StartedLog {
  private fd: number;
  /** The one record that is filled and written again and again. */
  private readonly record = new Float64Array(FIELDS);
  private readonly vacant: number[] = [];
  private places = 0;
  /** Closed, or not to be written to. */
  private over = false;

  /**
   * @param file must not exist: what an earlier process had started is none of this one's business.
   * @param onError told once, of a write that failed; from then on nothing is written. No item fails for it.
   */
  constructor(
    file: string,
    private readonly onError: (error: unknown) => void = () => undefined,
  ) {
    this.fd = openSync(file, 'wx');
  }

  place(): StartedPlace {
    let position: number | undefined;
    return {
      enter: ({ jobNo, generation, seq }, index, count = 1) => {
        position ??= this.vacant.pop() ?? this.places++ * RECORD_BYTES;
        this.write(position, jobNo, generation, seq, index, count);
      },
      free: () => {
        if (position === undefined) return;
        this.write(position, 0, 0, 0, 0, 0);
        this.vacant.push(position);
        position = undefined;
      },
    };
  }

  /** Nothing is written any more; the file stays. */
  close(): void {
    this.over = true;
    if (this.fd < 0) return;
    closeSync(this.fd);
    this.fd = -1;
  }

  private write(
    position: number,
    ...fields: [job: number, generation: number, seq: number, index: number, count: number]
  ): void {
    if (this.over) return;
    const { record } = this;
    record.set(fields);
    try {
      writeSync(this.fd, record, 0, RECORD_BYTES, position);
    } catch (error) {
      this.over = true;
      this.onError(error);
    }
  }
}

/** The items that had started, and not ended, when the file was last written. @throws Error when it cannot be read. */
export function readStarted(file: string): StartedItem[] {
  const bytes = readFileSync(file);
  const items: StartedItem[] = [];
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const from = bytes.byteOffset + at;
    const [jobNo = 0, generation = 0, seq = 0, index = 0, count = 0] = new Float64Array(
      bytes.buffer.slice(from, from + RECORD_BYTES),
    );
    if (jobNo === 0) continue;
    for (let i = 0; i < count; i++) items.push({ jobNo, generation, seq, index: index + i });
  }
  return items;
}
