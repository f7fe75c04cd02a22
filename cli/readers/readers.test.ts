import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { UsageError } from '../failure';
import { readItems, type Format, type NewItem } from './index';

const folder = mkdtempSync(join(tmpdir(), 'itemwise-readers-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Given {
  name?: string;
  format?: Format;
  idField?: string;
}

async function collect(content: string | Buffer, { name = 'rows', ...options }: Given = {}): Promise<NewItem[]> {
  const file = join(folder, name);
  writeFileSync(file, content);
  const items: NewItem[] = [];
  for await (const item of await readItems(file, { ...options, stdin: Readable.from([]) })) items.push(item);
  return items;
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UsageError);
  return (error as Error).message.replace(`${folder}/`, '');
}

const ITEMS = [
  { id: '1', input: { a: 1 } },
  { id: '2', input: { a: 2 } },
];

describe('formats', () => {
  test('NDJSON: a record a line, empty lines passed over', async () => {
    expect(await collect('{"a":1}\r\n\n{"a":2}', { name: 'rows.ndjson' })).toEqual(ITEMS);
  });

  test('a JSON array, over several lines', async () => {
    expect(await collect(' [\n {"a":1}, {"a"\n:2}\n]\n', { name: 'rows.json' })).toEqual(ITEMS);
  });

  test('values that are no objects are inputs too', async () => {
    const inputs = ['x', 7, null, [1], true];
    const expected = inputs.map((input, index) => ({ id: String(index + 1), input }));
    expect(await collect(JSON.stringify(inputs), { format: 'json' })).toEqual(expected);
    expect(await collect(inputs.map((input) => JSON.stringify(input)).join('\n'), { format: 'ndjson' })).toEqual(
      expected,
    );
  });

  test('CSV: values stay text, empty ones are null', async () => {
    expect(await collect('name,code,note\n"a, ""b""",007,\r\n\nc,1e3,""\n', { name: 'rows.csv' })).toEqual([
      { id: '1', input: { name: 'a, "b"', code: '007', note: null } },
      { id: '2', input: { name: 'c', code: '1e3', note: null } },
    ]);
  });

  test.each([
    ['[{"a":1},{"a":2}]', ITEMS],
    ['\n  {"a":1}\n{"a":2}\n', ITEMS],
    ['a\n1\n', [{ id: '1', input: { a: '1' } }]],
  ])('without an extension the beginning tells: %j', async (content, expected) => {
    expect(await collect(content)).toEqual(expected);
  });

  test('the format that is given counts, whatever the name', async () => {
    expect(await collect('{"a":1}\n{"a":2}', { name: 'rows.json', format: 'ndjson' })).toEqual(ITEMS);
  });

  test('a byte order mark is no part of the first value', async () => {
    expect(await collect('\ufeffa\n1\n', { name: 'rows.csv' })).toEqual([{ id: '1', input: { a: '1' } }]);
    expect(await collect('\ufeff[{"a":1},{"a":2}]', { name: 'rows.json' })).toEqual(ITEMS);
  });

  test('characters may be split between chunks', async () => {
    const bytes = [...Buffer.from('{"a":"ü€𝄞"}\n')].map((byte) => Buffer.from([byte]));
    const items = await readItems('-', { stdin: Readable.from(bytes) });
    expect((await items.next()).value).toEqual({ id: '1', input: { a: 'ü€𝄞' } });
  });
});

describe('ids', () => {
  test('from a field, text or number', async () => {
    const items = await collect('{"sku":"A"}\n{"sku":7}\n{"sku":1.5}', { format: 'ndjson', idField: 'sku' });
    expect(items.map((item) => item.id)).toEqual(['A', '7', '1.5']);
    expect(items[0]?.input).toEqual({ sku: 'A' });
  });

  test('from a column', async () => {
    const items = await collect('sku,x\nA,1\nB,2\n', { format: 'csv', idField: 'sku' });
    expect(items.map((item) => item.id)).toEqual(['A', 'B']);
  });

  test('exactly id and input is an item already', async () => {
    const text = '{"id":"A","input":{"sku":"B"}}\n{"id":"C","input":1,"x":2}';
    expect(await collect(text, { format: 'ndjson' })).toEqual([
      { id: 'A', input: { sku: 'B' } },
      { id: '2', input: { id: 'C', input: 1, x: 2 } },
    ]);
  });

  test.each([
    ['{"sku":"A"}\n\n{"x":1}', 'rows: row 2 (line 3) has no field "sku" to take its id from'],
    ['{"sku":"A"}\n{"sku":""}', 'rows: row 2 (line 2): the field "sku", its id, is empty'],
    ['{"sku":null}', 'rows: row 1 (line 1): the field "sku", its id, is empty'],
    ['{"sku":{}}', 'rows: row 1 (line 1): the field "sku", its id, is not a text or a number'],
    ['{"sku":12345678901234567890}', 'too large for a number'],
    ['"text"', 'rows: row 1 (line 1) has no field "sku"'],
    ['{"id":true,"input":1}', 'rows: row 1 (line 1): the field "id", its id, is not a text or a number'],
  ])('%s', async (content, expected) => {
    expect(await messageOf(collect(content, { format: 'ndjson', idField: 'sku' }))).toContain(expected);
  });

  test('an empty column names the row and its line', async () => {
    const content = 'sku,x\nA,"two\nlines"\n,2\n';
    expect(await messageOf(collect(content, { format: 'csv', idField: 'sku' }))).toBe(
      'rows: row 2 (line 4): the field "sku", its id, is empty',
    );
  });

  test('a field that an object only inherits is no field', async () => {
    expect(await messageOf(collect('{"a":1}', { format: 'ndjson', idField: 'toString' }))).toContain('has no field');
  });
});

describe('mistakes', () => {
  test.each<[Format, string, string]>([
    ['ndjson', '{"a":1}\n\n{"a":\n', 'rows: line 3 is not JSON'],
    ['ndjson', ' \n\n', 'rows: there is nothing in it'],
    ['json', '[{"a":1},\n{"a" 2}]', 'rows: line 2 is not JSON'],
    ['json', '[{"a":1},\n{"a":2}', 'rows: line 2: the JSON array ends before it is complete'],
    ['json', '[1]\n[2]', 'rows: line 2 is not JSON'],
    ['json', '{"a":1}', 'rows: it is not a JSON array; if it has one record a line, say --format ndjson'],
    ['json', '[]', 'rows: there is nothing in it'],
    ['csv', 'a,b\n1,2\n3\n', 'on line 3'],
    ['csv', 'a,b\n1,"2\n', 'line 2'],
    ['csv', 'a,\n1,2\n', 'rows: line 1: column 2 of the header has no name'],
    ['csv', 'a,a\n1,2\n', 'rows: line 1: the header has the column "a" twice'],
    ['csv', 'a,b\n', 'rows: there is nothing in it'],
    ['csv', '', 'rows: there is nothing in it'],
  ])('%s: %j', async (format, content, expected) => {
    expect(await messageOf(collect(content, { format }))).toContain(expected);
  });

  test('text that is not UTF-8', async () => {
    expect(await messageOf(collect(Buffer.from('caf\xe9\n1\n', 'latin1'), { format: 'csv' }))).toContain('UTF-8');
    expect(await messageOf(collect(Buffer.from([0x61, 0xc3]), { format: 'csv' }))).toContain('UTF-8');
  });

  test('a line without an end is not collected', async () => {
    const endless = function* (): Generator<Buffer> {
      for (;;) yield Buffer.alloc(1_000_000, 'x');
    };
    const items = await readItems('-', { format: 'ndjson', stdin: Readable.from(endless()) });
    await expect(items.next()).rejects.toThrow('a line is over');
  });

  test('a file that is not there, and a folder', async () => {
    const stdin = Readable.from([]);
    await expect(readItems(join(folder, 'none'), { stdin })).rejects.toThrow('there is no such file');
    await expect(readItems(folder, { stdin })).rejects.toThrow('it is a folder');
  });
});

describe('a file larger than the memory', () => {
  const row = (no: number): string => JSON.stringify({ no, text: 'x'.repeat(1_000) });
  const contents: Record<Format, { head: string; line: (no: number) => string }> = {
    ndjson: { head: '', line: (no) => `${row(no)}\n` },
    json: { head: '[', line: (no) => `${no === 0 ? '' : ','}${row(no)}\n` },
    csv: { head: 'no,text\n', line: (no) => `${no},${'x'.repeat(1_000)}\n` },
  };

  test.each<Format>(['ndjson', 'json', 'csv'])('%s is read no further than its items are taken', async (format) => {
    const { head, line } = contents[format];
    let produced = 0;
    const endless = function* (): Generator<Buffer> {
      yield Buffer.from(head);
      for (;;) yield Buffer.from(line(produced++));
    };
    const items = await readItems('-', { format, stdin: Readable.from(endless(), { objectMode: true }) });
    let mostAhead = 0;
    for (let taken = 1; taken <= 1_500; taken++) {
      const { value } = await items.next();
      if (value?.id !== String(taken)) throw new Error(`item ${taken} has the id ${value?.id}`);
      mostAhead = Math.max(mostAhead, produced - taken);
    }
    expect(mostAhead).toBeLessThan(500);
    await items.return(undefined);
  });
});
