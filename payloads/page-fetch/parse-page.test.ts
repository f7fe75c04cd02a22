import { parsePage } from './parse-page';

const url = new URL('https://shop.example/a/b?c');
const title = (html: string): string | null => parsePage(html, url).title;
const canonical = (html: string): string | null => parsePage(html, url).canonical;

test('finds both in an ordinary head', () => {
  const html = '<html><head><title>Red &amp; blue</title><link rel="canonical" href="/a"></head><body>x</body></html>';
  expect(parsePage(html, url)).toEqual({ title: 'Red & blue', canonical: 'https://shop.example/a' });
});

test.each([
  ['<title>\n  two\n  lines </title>', 'two lines'],
  ['<title>first</title><title>second</title>', 'first'],
  ['<svg><title>icon</title></svg><title>page</title>', 'page'],
  ['<title>1 < 2 <b></title>', '1 < 2 <b>'],
  ['<TITLE>unclosed', 'unclosed'],
  ['<title> </title>', null],
  ['<p>none</p>', null],
  ['', null],
])('the title of %j is %j', (html, expected) => {
  expect(title(html)).toBe(expected);
});

test.each([
  ['<link rel="CANONICAL nofollow" href="https://other.example/">', 'https://other.example/'],
  ['<link rel=canonical href=/one><link rel=canonical href=/two>', 'https://shop.example/one'],
  ['<link rel=canonical href="?d">', 'https://shop.example/a/b?d'],
  ['<link rel=canonical href="javascript:alert(1)">', null],
  ['<link rel=canonical href="http://[">', null],
  ['<link rel=canonical>', null],
  ['<link rel=not-canonical href=/x>', null],
  [`<link rel=canonical href="/${'x'.repeat(9_000)}">`, null],
])('the canonical link of %j is %j', (html, expected) => {
  expect(canonical(html)).toBe(expected);
});

test('a huge title is cut, not through a character', () => {
  expect(title(`<title>${'x'.repeat(5_000)}</title>`)).toHaveLength(1_000);
  expect(title(`<title>${'x'.repeat(999)}🚗🚗</title>`)).toBe('x'.repeat(999));
});
