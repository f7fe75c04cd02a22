import { decode } from './decode';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

test('the content type decides', () => {
  expect(decode(Buffer.from('Žluťoučký café'), 'text/html; charset=utf-8')).toBe('Žluťoučký café');
  expect(decode(latin1('café'), 'text/html;charset="ISO-8859-1"')).toBe('café');
  expect(decode(latin1('<meta charset=utf-8>café'), 'text/html; charset=latin1')).toContain('café');
});

test.each(['<meta charset="iso-8859-1">', '<META http-equiv=content-type content="text/html; charset=latin1">'])(
  'without one, %s does',
  (meta) => {
    expect(decode(latin1(`${meta}café`), 'text/html')).toContain('café');
  },
);

test('else it is UTF-8, without its byte order mark', () => {
  expect(decode(Buffer.from('\uFEFFcafé'), 'text/html')).toBe('café');
  expect(decode(Buffer.from('café'), 'text/html; charset=no-such')).toBe('café');
  expect(decode(latin1('café'), 'text/html')).toBe('caf\uFFFD');
});
