import fc from 'fast-check';
import { Defer, retryAfter } from '.';

const NOW = Date.parse('1994-11-06T08:49:00Z');
const DAY = 86_400_000;
const YEAR = 366 * DAY;

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A moment in the three forms, written here without the code under test. */
function forms(ms: number): { imf: string; rfc850: string; asctime: string } {
  const date = new Date(ms);
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = DAYS[date.getUTCDay()]!;
  const month = MONTHS[date.getUTCMonth()]!;
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  return {
    imf: `${day.slice(0, 3)}, ${two(date.getUTCDate())} ${month} ${year} ${time} GMT`,
    rfc850: `${day}, ${two(date.getUTCDate())}-${month}-${year.slice(2)} ${time} GMT`,
    asctime: `${day.slice(0, 3)} ${month} ${String(date.getUTCDate()).padStart(2, ' ')} ${time} ${year}`,
  };
}

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    ['007', 7_000],
    [' 7 ', 7_000],
    ['86400', DAY],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun Nov 06 08:49:37 1994', 37_000],
    ['sun, 06 NOV 1994 08:49:37 gmt', 37_000],
    // A leap second is the first of the next minute.
    ['Sun, 06 Nov 1994 08:49:60 GMT', 60_000],
    ['Mon Nov  7 08:48:00 1994', DAY - 60_000],
  ])('%j is %i ms', (header, after) => {
    expect(retryAfter(header, NOW)).toEqual({ after });
  });

  it.each([
    null,
    undefined,
    '',
    ' ',
    '-5',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '٧',
    '5, 5',
    'soon',
    'Sunday',
    'Sun',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 06 Nov 1994 08:49:37 +0100',
    'Sun, 31 Apr 1994 08:49:37 GMT',
    'Tue, 29 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06-Nov-94 08:49:37 GMT',
    'Sunday, 06 Nov 1994 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
    'Sun Nov  6 08:49:37 1994 GMT',
  ])('%j is no legal value: 30 s', (header) => {
    expect(retryAfter(header, NOW)).toEqual({ after: 30_000 });
  });

  it.each(['Sun, 06 Nov 1994 08:48:59 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Sat, 01 Jan 0050 00:00:00 GMT'])(
    '%j has passed: at once',
    (header) => {
      expect(retryAfter(header, NOW)).toEqual({ after: 0 });
    },
  );

  it.each(['86401', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT', 'Sun Nov  6 08:49:37 2044'])(
    '%j is too far off: a day',
    (header) => {
      expect(retryAfter(header, NOW)).toEqual({ after: DAY });
    },
  );

  it('every date is understood in its three forms, on every day of its time', () => {
    const year = (n: number): number => Date.UTC(n, 0);
    fc.assert(
      fc.property(
        fc.integer({ min: year(1971) / 1_000, max: year(9_950) / 1_000 }),
        fc.integer({ min: -60, max: 86_400 }),
        (nowSeconds, ahead) => {
          const now = nowSeconds * 1_000;
          const after = Math.max(0, ahead * 1_000);
          for (const header of Object.values(forms(now + ahead * 1_000))) {
            expect([header, retryAfter(header, now)]).toEqual([header, { after }]);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('years of two digits over the turn of a century', () => {
    const eve = Date.parse('1999-12-31T23:59:50Z');
    expect(retryAfter('Saturday, 01-Jan-00 00:00:05 GMT', eve)).toEqual({ after: 15_000 });
    expect(retryAfter('Friday, 31-Dec-99 23:59:50 GMT', eve + 15_000)).toEqual({ after: 0 });
  });

  it('a year of two digits is up to 50 years ahead, else of the past century', () => {
    expect(retryAfter('Sunday, 06-Nov-44 08:49:00 GMT', NOW)).toEqual({ after: DAY });
    expect(retryAfter('Sunday, 06-Nov-44 08:49:01 GMT', NOW)).toEqual({ after: 0 });
    fc.assert(
      fc.property(fc.integer({ min: -49 * YEAR, max: 49 * YEAR }), (offset) => {
        const moment = Math.floor((NOW + offset) / 1_000) * 1_000;
        const after = Math.min(DAY, Math.max(0, moment - NOW));
        expect(retryAfter(forms(moment).rfc850, NOW)).toEqual({ after });
      }),
    );
  });

  it('whatever a server sends, it is a time between now and a day', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+.\dA-Za-z,: ]*$/)), (header) => {
        const { after } = retryAfter(header, NOW);
        expect(after).toBeGreaterThanOrEqual(0);
        expect(after).toBeLessThanOrEqual(DAY);
      }),
    );
  });

  it('is what a Defer takes, and counts from this moment', () => {
    expect(new Defer('busy', retryAfter('7'))).toMatchObject({ when: { after: 7_000 } });
    const { after } = retryAfter(forms(Date.now() + 60_000).imf);
    expect(after).toBeGreaterThan(50_000);
    expect(after).toBeLessThanOrEqual(60_000);
  });
});
