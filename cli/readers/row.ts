/** A record of the file: its value, and the line it ends on, counted from 1. */
export interface Row {
  readonly value: unknown;
  readonly line: number;
}

/** Reads rows out of text. Throws a UsageError that names the line. */
export type RowReader = (texts: AsyncIterable<string>) => AsyncGenerator<Row>;
