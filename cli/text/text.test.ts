import { printable } from '../output';
import { formatDuration } from './duration';
import { errorLine } from './error-line';
import { formatBytes, formatCount, plural } from './number';
import { block, table } from './table';

describe('table', () => {
  const columns = [
    { title: 'NAME', value: (row: { name: string; count: number }) => row.name, max: 6 },
    { title: 'COUNT', value: (row: { name: string; count: number }) => row.count, right: true },
  ];

  test('columns are as wide as their widest cell, and lines have no blanks at their end', () => {
    const rows = [
      { name: 'a', count: 1 },
      { name: 'bcd', count: 123456 },
    ];
    expect(table(columns, rows)).toBe(['NAME   COUNT', 'a          1', 'bcd   123456'].join('\n'));
  });

  test('long cells are cut, by characters and not by halves of them', () => {
    expect(table(columns, [{ name: '𝄞𝄞𝄞𝄞𝄞𝄞𝄞', count: 1 }])).toContain('𝄞𝄞𝄞𝄞𝄞…      1');
  });

  test('cells cannot reach the terminal', () => {
    expect(table([{ title: 'X', value: () => '\u001b[31mred\n' }], [{}])).toBe('X\n\\u001b[31mred\\u000a');
  });

  test('a block has its values under one another', () => {
    expect(
      block([
        ['a', '1'],
        ['bcd', '2'],
      ]),
    ).toBe('a    1\nbcd  2');
  });
});

describe('texts', () => {
  test.each([
    [0, '0.0 s'],
    [1_234, '1.2 s'],
    [12_345, '12 s'],
    [185_000, '3 min 5 s'],
    [8_040_000, '2 h 14 min'],
  ])('%d ms: %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  test('numbers', () => {
    expect(formatCount(1234567)).toBe('1,234,567');
    expect([plural(1, 'item'), plural(2_000, 'item')]).toEqual(['1 item', '2,000 items']);
    expect([12, 34_000, 5_600_000, 7e9].map(formatBytes)).toEqual(['12 B', '34 kB', '5.6 MB', '7.00 GB']);
  });

  test('direction marks and control characters are shown, letters of any script are not', () => {
    expect(printable('a\u202eb\u0007 \u00fc\u4e2d')).toBe('a\\u202eb\\u0007 \u00fc\u4e2d');
  });

  test('an error is one line with where it does not fit', () => {
    const issues = [{ path: 'a.b', message: 'a number is needed' }];
    expect(errorLine({ code: 'invalid_input', message: 'two\nlines', issues })).toBe(
      'invalid_input: two\\u000alines (a.b: a number is needed)',
    );
    expect(errorLine(undefined)).toBe('');
  });
});
