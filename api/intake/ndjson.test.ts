import { takeIn } from '../fixtures/intake';

const line = (id: string, input: unknown): string => JSON.stringify({ id, input });

describe.each([1, 2, 3, 5, 64_000])('in pieces of %d bytes', (size) => {
  const items = [
    { id: 'ä', input: 'é € 😀 \u{10FFFF} \u2028\u2029' },
    { id: 'b', input: null },
    { id: 'c', input: '\ufeffnot a mark\ufeff' },
    { id: 'd', input: [[], { x: '\ud800' }] },
  ];
  const lines = items.map(({ id, input }) => line(id, input));

  it.each([
    ['a newline at the end', `${lines.join('\n')}\n`],
    ['none at the end', lines.join('\n')],
    ['CRLF', `${lines.join('\r\n')}\r\n`],
    ['a byte order mark', `\ufeff${lines.join('\n')}`],
    ['empty lines', `\n\n${lines.join('\n \r\n\t\n')}\n\n`],
  ])('reads lines with %s', async (_, body) => {
    expect((await takeIn('ndjson', body, size)).items).toEqual(items);
  });

  it('says which line it is that does not parse, empty ones counted', async () => {
    const body = `${lines[0]}\n\n${lines[1]}\n{"id":\n${lines[2]}`;
    await expect(takeIn('ndjson', body, size)).rejects.toMatchObject({ code: 'invalid_line', extras: { line: 4 } });
  });

  it('says which line it is that is not UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from(`${lines[0]}\n{"id":"x","input":"`),
      Buffer.from([0xc3]),
      Buffer.from('"}'),
    ]);
    await expect(takeIn('ndjson', body, size)).rejects.toMatchObject({ code: 'invalid_line', extras: { line: 2 } });
  });
});

it('refuses a body that ends within a line', async () => {
  await expect(takeIn('ndjson', `${line('a', 1)}\n{"id":"b","inp`)).rejects.toMatchObject({
    code: 'invalid_line',
    extras: { line: 2 },
  });
});

it('keeps a key called __proto__ as plain data', async () => {
  const text = '{"id":"a","input":{"__proto__":{"polluted":true}}}';
  const { items } = await takeIn('ndjson', text);
  expect(JSON.stringify(items[0]!.input)).toBe('{"__proto__":{"polluted":true}}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

it('refuses a number that would be stored as null', async () => {
  await expect(takeIn('ndjson', '{"id":"a","input":1e400}')).rejects.toMatchObject({ code: 'invalid_item' });
});

it('holds no more of a line than an item may have', async () => {
  const body = `${line('a', 1)}\n{"id":"b","input":"${'x'.repeat(2_000_000)}`;
  await expect(takeIn('ndjson', body, 64_000)).rejects.toMatchObject({ code: 'item_too_large', extras: { line: 2 } });
});
