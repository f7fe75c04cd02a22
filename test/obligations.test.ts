import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** `S1` to `Sn`. */
const ids = (letter: string, n: number): string[] => Array.from({ length: n }, (_, i) => `${letter}${i + 1}`);
const OBLIGATIONS = [...ids('S', 8), ...ids('A', 6), ...ids('R', 10), ...ids('E', 7)];

/** A line of docs/obligations.md, cell by cell. */
interface Row {
  readonly id: string;
  readonly owed: string;
  readonly code: readonly string[];
  readonly tests: readonly { readonly file: string; readonly name: string }[];
  readonly notYet: string;
}

const rows: Row[] = [];
for (const line of read('docs/obligations.md').split('\n')) {
  const [, id, owed, code, tests, notYet] = line.split('|').map((cell) => cell.trim());
  if (!/^[A-Z]\d+$/.test(id ?? '')) continue;
  rows.push({
    id: id!,
    owed: owed!,
    code: [...code!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
    tests: [...tests!.matchAll(/`([^`]+)`: "([^"]+)"/g)].map(([, file, name]) => ({ file: file!, name: name! })),
    notYet: notYet!,
  });
}

describe('the ledger of obligations', () => {
  it('has each obligation once, in order', () => {
    expect(rows.map(({ id }) => id)).toEqual(OBLIGATIONS);
  });

  it.each(rows.map((row) => [row.id, row] as const))('%s says what is owed, and who carries and shows it', (_, row) => {
    expect(row.owed).not.toBe('');
    for (const file of row.code) expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
    for (const { file, name } of row.tests) {
      expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
      expect([file, name, read(file).includes(name)]).toEqual([file, name, true]);
    }
    // What nothing shows is not kept yet, and says so.
    if (row.tests.length === 0) expect(row.notYet).toContain('`later`');
    else expect(row.code).not.toEqual([]);
  });
});
