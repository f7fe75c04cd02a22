import { entry } from './entry';

const lamp = { sku: 'a-1', title: 'A lamp', price: 19.9, currency: 'EUR' };

test('an entry is taken with and without a link, white space around its texts aside', () => {
  expect(entry.parse({ ...lamp, title: ' A lamp ' })).toEqual(lamp);
  expect(entry.parse({ ...lamp, url: 'https://shop.example/a-1' })).toMatchObject({ url: 'https://shop.example/a-1' });
});

test.each([
  ['sku', ' '],
  ['title', ''],
  ['title', 'x'.repeat(501)],
  ['price', -1],
  ['price', '19.90'],
  ['currency', 'eur'],
  ['currency', 'euros'],
  ['url', 'ftp://shop.example'],
  ['url', 'shop.example'],
])('%s %j is refused', (field, value) => {
  expect(entry.safeParse({ ...lamp, [field]: value }).error?.issues).toMatchObject([{ path: [field] }]);
});
