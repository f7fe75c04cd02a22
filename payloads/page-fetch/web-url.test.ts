import { isWebUrl, resolveWebUrl } from './web-url';

test.each(['http://a.example', 'https://127.0.0.1:8080/b?c#d'])('%s is a web URL', (url) => {
  expect(isWebUrl(url)).toBe(true);
});

test.each(['', '/b', 'ftp://a.example', 'file:///etc/passwd', 'javascript:1', 'http://me:secret@a.example'])(
  '%j is not',
  (url) => {
    expect(isWebUrl(url)).toBe(false);
  },
);

test('resolves against the base', () => {
  const base = new URL('https://a.example/x/y');
  expect(resolveWebUrl('../z?q', base)?.href).toBe('https://a.example/z?q');
  expect(resolveWebUrl('//b.example/', base)?.href).toBe('https://b.example/');
  expect(resolveWebUrl('mailto:a@b.example', base)).toBeNull();
  expect(resolveWebUrl('http://[', base)).toBeNull();
});
