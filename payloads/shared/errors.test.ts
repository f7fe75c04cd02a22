import { networkError } from './errors';

const url = new URL('http://shop.example:8080/a');
const coded = Object.assign(new Error('deep'), { code: 'ECONNRESET' });

test.each([
  [coded, 'ECONNRESET', 'no answer from shop.example:8080: ECONNRESET'],
  [new TypeError('fetch failed', { cause: coded }), 'ECONNRESET', 'no answer from shop.example:8080: ECONNRESET'],
  [
    new TypeError('fetch failed', { cause: new Error('bad port') }),
    'network_error',
    'no answer from shop.example:8080',
  ],
  ['a string', 'network_error', 'no answer from shop.example:8080'],
])('%s', (error, code, message) => {
  expect(networkError(error, url)).toMatchObject({ code, message, cause: error });
});

test('a cyclic cause ends', () => {
  const cyclic: { cause?: unknown } = {};
  cyclic.cause = cyclic;
  expect(networkError(cyclic, url).code).toBe('network_error');
});
