import fc from 'fast-check';
import { Problem } from '../problems';
import { JsonScanner } from './json-scanner';

interface Scan {
  readonly fields: Record<string, unknown>;
  readonly items: unknown[];
}

/** What a body says, cut to pieces of the given sizes; the last one is repeated. */
function scan(body: Buffer, sizes: readonly number[] = [body.length || 1]): Scan {
  const found: Scan = { fields: {}, items: [] };
  let field = '';
  const scanner = new JsonScanner({
    field: (name) => {
      field = JSON.parse(name.toString()) as string;
      return field === 'items';
    },
    value: (text) => {
      found.fields[field] = JSON.parse(text.toString());
    },
    element: (text) => found.items.push(JSON.parse(text.toString())),
    held: () => undefined,
  });
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const size = sizes[Math.min(turn, sizes.length - 1)]!;
    // A copy of its own, so that a piece that is kept by reference would show.
    scanner.write(Buffer.from(body.subarray(at, at + size)));
    at += size;
  }
  if (!scanner.complete) throw new Error('incomplete');
  return found;
}

const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 });
const anyText = fc.string({ unit: 'binary' });
const anyJson = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });

it('finds the items and fields of any body, wherever the bytes are cut', () => {
  const bodies = fc.record({ params: anyJson, label: anyText, items: fc.array(anyJson) });
  fc.assert(
    fc.property(bodies, sizes, fc.constantFrom(0, 1, '\t'), (body, cuts, indent) => {
      const { items, ...fields } = body;
      const found = scan(Buffer.from(JSON.stringify(body, null, indent)), cuts);
      // Compared as text: the zero of a number has a sign that JSON does not write.
      expect(JSON.stringify(found)).toBe(JSON.stringify({ fields, items }));
    }),
    { numRuns: 300 },
  );
});

it('takes a body exactly when JSON.parse does', () => {
  const broken = fc
    .tuple(
      anyJson,
      fc.nat(),
      fc.constantFrom(...'{}[],:"\\ \n\t0123456789-+.eEtrufalsn/x\u0001\u00e9', ''),
      fc.boolean(),
    )
    .map(([value, at, char, replace]) => {
      const text = `{"a":${JSON.stringify(value)},"items":[${JSON.stringify(value)},[]]}`;
      const place = at % text.length;
      return text.slice(0, place) + char + text.slice(place + (replace ? 1 : 0));
    })
    // Of its own accord it refuses what is no object, and items that are no array.
    .filter((text) => !/"items"\s*:(?!\s*\[)/.test(text) && text.trimStart().startsWith('{'));
  fc.assert(
    fc.property(broken, sizes, (text, cuts) => {
      expect(accepts(() => scan(Buffer.from(text), cuts))).toBe(accepts(() => JSON.parse(text)));
    }),
    { numRuns: 2_000 },
  );
});

function accepts(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

it.each([
  ['a number that goes on', '{"a":1', ['0', '1', '2', 'x']],
  ['a leading zero', '{"a":0', ['0']],
  ['a comma before the end of an object', '{"a":1,', ['}']],
  ['a comma before the end of an array', '{"items":[1,', [']']],
  ['the wrong bracket', '{"items":[', ['}']],
  ['a key that is no string', '{', ['a']],
  ['a word that is none', '{"a":tr', ['o']],
  ['a control character in a string', '{"a":"', ['\n']],
  ['an escape that is none', '{"a":"\\', ['x']],
  ['a digit that is none', '{"a":"\\u00', ['g']],
  ['anything after the end', '{}', ['{']],
])('refuses %s at the first byte that is out of place', (_, before, bytes) => {
  const scanner = new JsonScanner({
    field: (name) => name.toString() === '"items"',
    value: () => undefined,
    element: () => undefined,
    held: () => undefined,
  });
  scanner.write(Buffer.from(before));
  for (const byte of bytes.slice(0, -1)) scanner.write(Buffer.from(byte));
  const place = before.length + bytes.length - 1;
  expect(() => scanner.write(Buffer.from(bytes[bytes.length - 1]!))).toThrow(`at byte ${place} of the body`);
});

it('refuses depth at the bracket that is too many', () => {
  const deep = (levels: number): Buffer => Buffer.from(`{"items":[${'['.repeat(levels)}`);
  const open = (levels: number): Error | undefined => {
    try {
      scan(deep(levels));
      return undefined;
    } catch (error) {
      return error as Error;
    }
  };
  expect(open(65)).toEqual(new Error('incomplete'));
  expect(open(66)).toMatchObject({ name: 'Problem', code: 'too_deep' });
});

it.each(['[]', '"x"', '1', 'null'])('refuses the body %s, which is no object', (text) => {
  expect(() => scan(Buffer.from(text))).toThrow(new Problem('invalid_request', 'the body is not an object'));
});

it('says how much of a text it holds', () => {
  const held: number[] = [];
  const scanner = new JsonScanner({
    field: () => true,
    value: () => undefined,
    element: () => undefined,
    held: (bytes) => held.push(bytes),
  });
  for (const piece of ['{"items":["', 'abc', 'def', '",12', '3', ',[', ']]}']) scanner.write(Buffer.from(piece));
  expect(held).toEqual([1, 4, 7, 2, 3, 1]);
});
