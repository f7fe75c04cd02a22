import { printable } from '../output';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number;
  /** Numbers stand to the right. */
  readonly right?: boolean;
  /** Longer cells are cut. Default uncut, as ids must be. */
  readonly max?: number;
}

const GAP = '  ';

/** Rows under their titles, each column as wide as its widest cell. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => cut(printable(String(column.value(row))), column.max))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => width(line[at] ?? ''))));
  return cells
    .map((line) =>
      line
        .map((cell, at) => pad(cell, widths[at] ?? 0, columns[at]?.right))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** Names and what they are, one under another. */
export function block(entries: readonly (readonly [string, string])[]): string {
  const widest = Math.max(...entries.map(([name]) => width(name)));
  return entries.map(([name, value]) => `${pad(name, widest)}${GAP}${value}`.trimEnd()).join('\n');
}

/** In code points: good enough for columns, without a table of wide characters. */
function width(text: string): number {
  return [...text].length;
}

function cut(text: string, max: number | undefined): string {
  return max === undefined || width(text) <= max ? text : `${[...text].slice(0, max - 1).join('')}…`;
}

function pad(text: string, to: number, right = false): string {
  const space = ' '.repeat(Math.max(0, to - width(text)));
  return right ? space + text : text + space;
}
