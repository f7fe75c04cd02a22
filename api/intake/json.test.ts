import { takeIn } from '../fixtures/intake';

const HEAD = '"capability":"test.any@1"';

/** The inputs of a body with these, as JSON texts. */
async function inputsOf(texts: readonly string[], size?: number): Promise<unknown[]> {
  const items = texts.map((text, index) => `{"id":"${index}","input":${text}}`);
  return (await takeIn('json', `{${HEAD},"items":[${items.join(',')}]}`, size)).items.map((item) => item.input);
}

describe.each([1, 2, 3, 5, 64_000])('in pieces of %d bytes', (size) => {
  it('takes every kind of input exactly', async () => {
    const texts = [
      'null',
      'true',
      '0',
      '-12.5e-3',
      '"text"',
      '""',
      '[]',
      '{}',
      '[[],[{}],null]',
      '{"a":{"b":[1,"2",false]}}',
      '"é € 😀 \u{10FFFF} \u2028"',
      '"\\u00e9 \\ud83d\\ude00 \\n \\" \\\\ \\/"',
      '"\ufeffnot a mark within a text\ufeff"',
      '"\\u0000"',
      '"\\ud800"',
      '["\\ud83d","\\ude00"]',
      '"\\ud83d\\u0041"',
    ];
    expect(await inputsOf(texts, size)).toEqual(texts.map((text) => JSON.parse(text) as unknown));
  });

  it('takes fields before and after the items', async () => {
    const { items, head } = await takeIn(
      'json',
      `{"params":{"a":"é"},"items":[{"id":"ü","input":1}],"labels":{"k":"v"},${HEAD}}`,
      size,
    );
    expect(items).toEqual([{ id: 'ü', input: 1 }]);
    expect(head.complete()).toMatchObject({ params: { a: 'é' }, labels: { k: 'v' }, capability: 'test.any@1' });
  });

  it('passes over a byte order mark', async () => {
    const { items } = await takeIn('json', `\ufeff{${HEAD},"items":[{"id":"a","input":1}]}`, size);
    expect(items).toEqual([{ id: 'a', input: 1 }]);
  });
});

it('keeps a key called __proto__ as plain data and pollutes nothing', async () => {
  const [input] = await inputsOf(['{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}']);
  expect(JSON.stringify(input)).toBe('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

it('does not take the id or the input of an item from its __proto__', async () => {
  const body = `{${HEAD},"items":[{"__proto__":{"id":"a","input":1}}]}`;
  await expect(takeIn('json', body)).rejects.toMatchObject({ code: 'invalid_item' });
});

it('keeps a __proto__ in params, and refuses it as a field or a label', async () => {
  const { head } = await takeIn('json', `{${HEAD},"params":{"__proto__":{"a":1}},"items":[]}`);
  expect(JSON.stringify(head.complete().params)).toBe('{"__proto__":{"a":1}}');
  for (const field of ['"__proto__":{"capability":"test.any@1"}', '"labels":{"__proto__":"a"}'])
    await expect(takeIn('json', `{${field},"items":[]}`)).rejects.toMatchObject({ code: 'invalid_request' });
});

it.each([
  ['capability', `{${HEAD},${HEAD},"items":[]}`],
  ['params', `{${HEAD},"params":{},"params":{"a":1},"items":[]}`],
  ['items', `{${HEAD},"items":[{"id":"a","input":1}],"items":[{"id":"b","input":1}]}`],
])('refuses a body that has %s twice: either could be meant', async (_, body) => {
  await expect(takeIn('json', body)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/more than once/) as string,
  });
});

it.each(['1e400', '-1e999', '[1,[2e308]]', '{"a":1e400}'])(
  'refuses the number in %s, which would be stored as null',
  async (text) => {
    await expect(inputsOf([text])).rejects.toMatchObject({ code: 'invalid_item' });
  },
);

it.each([
  ['a byte that is none', [0xff]],
  ['a character that is cut off', [0xc3]],
  ['a character that is longer than it need be', [0xc0, 0xaf]],
  ['half a pair', [0xed, 0xa0, 0x80]],
  ['a character past the last one', [0xf4, 0x90, 0x80, 0x80]],
])('refuses invalid UTF-8 (%s) in an input, an id, a field and a name', async (_, bytes) => {
  const bad = Buffer.from(bytes);
  const around = (before: string, after: string): Buffer =>
    Buffer.concat([Buffer.from(before), bad, Buffer.from(after)]);
  const bodies = [
    around(`{${HEAD},"items":[{"id":"a","input":"`, '"}]}'),
    around(`{${HEAD},"items":[{"id":"`, '","input":1}]}'),
    around(`{${HEAD},"params":{"a":"`, '"},"items":[]}'),
    around(`{${HEAD},"`, '":1,"items":[]}'),
    around('', `{${HEAD},"items":[]}`),
  ];
  for (const body of bodies)
    for (const size of [1, 1_000])
      await expect(takeIn('json', body, size)).rejects.toMatchObject({ code: 'invalid_json' });
});

it.each([
  ['nothing', '', 'invalid_json'],
  ['a mark and nothing else', '\ufeff', 'invalid_json'],
  ['white space', ' \n ', 'truncated_body'],
  ['half a body', `{${HEAD},"items":[{"id":"a","input":1}`, 'truncated_body'],
  ['all but the last byte', `{${HEAD},"items":[{"id":"a","input":1}]`, 'truncated_body'],
  ['a comma too many', `{${HEAD},"items":[{"id":"a","input":1}],}`, 'invalid_json'],
  ['something after the end', `{${HEAD},"items":[{"id":"a","input":1}]}x`, 'invalid_json'],
])('refuses %s', async (_, body, code) => {
  for (const size of [1, 1_000]) await expect(takeIn('json', body, size)).rejects.toMatchObject({ code });
});

it('holds no more of an item or a field than an item may have', async () => {
  const endless = 'x'.repeat(2_000_000);
  const item = takeIn('json', `{${HEAD},"items":[{"id":"a","input":1},{"id":"b","input":"${endless}`, 64_000);
  await expect(item).rejects.toMatchObject({ code: 'item_too_large', message: 'item 2 is over 1010000 bytes' });
  const field = takeIn('json', `{${HEAD},"params":{"a":"${endless}`, 64_000);
  await expect(field).rejects.toMatchObject({
    code: 'body_too_large',
    message: 'the field params is over 1010000 bytes',
  });
});
