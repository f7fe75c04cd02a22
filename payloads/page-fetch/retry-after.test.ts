import { DEFAULT_RETRY_AFTER_MS, retryAfterMs } from './retry-after';

const now = Date.parse('1994-11-06T08:49:00Z');

test.each([
  ['120', 120_000],
  ['0', 0],
  [' 7 ', 7_000],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
  ['Sun Nov  6 08:49:37 1994', 37_000],
])('%j is %i ms', (header, expected) => {
  expect(retryAfterMs(header, now)).toBe(expected);
});

test.each([null, '', '-5', '1.5', 'soon', 'Sunday', '9'.repeat(400), 'Sun, 06 Nov 1994 08:00:00 GMT'])(
  '%j falls back to the default',
  (header) => {
    expect(retryAfterMs(header, now)).toBe(DEFAULT_RETRY_AFTER_MS);
  },
);
