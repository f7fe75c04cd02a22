/** Where the header is missing, or no legal value. */
const DEFAULT_MS = 30_000;
/** The longest time that is taken from a header: a wrong clock or a typing error would park an item for years. */
const MOST_MS = 86_400_000;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const DAY_NAME = '(?:mon|tue|wed|thu|fri|sat|sun)';
const DAY_NAME_LONG = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

/** The three forms of RFC 9110, 5.6.7. Senders get the letter case wrong, so it is not held against them. */
const HTTP_DATES = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  `${DAY_NAME}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT`,
  // Sunday, 06-Nov-94 08:49:37 GMT
  `${DAY_NAME_LONG}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT`,
  // Sun Nov  6 08:49:37 1994, which bears no zone and means GMT
  `${DAY_NAME} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`, 'i'));

/**
 * When to come back, by the `Retry-After` header of an answer: what `new Defer(reason, ...)` takes. Every legal value is
 * understood: seconds, and an HTTP date in any of its three forms. A date that has passed means at once. Missing or no
 * legal value: 30 s. At most a day.
 *
 * @param now ms since the epoch; a date is counted from it.
 */
export function retryAfter(header: string | null | undefined, now: number = Date.now()): { after: number } {
  const value = header?.trim() ?? '';
  const asked = /^\d+$/.test(value) ? Number(value) * 1_000 : untilDate(value, now);
  return { after: asked === undefined ? DEFAULT_MS : Math.min(MOST_MS, Math.max(0, asked)) };
}

/** From `now` to an HTTP date, ms; undefined when it is none. */
function untilDate(value: string, now: number): number | undefined {
  for (const form of HTTP_DATES) {
    const parts = form.exec(value)?.groups;
    if (!parts) continue;
    const date = parts['year']!.length === 2 ? withCentury(parts, now) : timeOf(parts, Number(parts['year']));
    return date === undefined ? undefined : date - now;
  }
  return undefined;
}

/** ms since the epoch; undefined for a day that its month does not have. */
function timeOf(parts: Record<string, string>, year: number): number | undefined {
  const [day, hour, minute, second] = ['day', 'hour', 'minute', 'second'].map((part) => Number(parts[part]));
  const month = MONTHS.indexOf(parts['month']!.toLowerCase());
  const midnight = new Date(0);
  // Not through Date.UTC, which takes the years 0 to 99 for others.
  midnight.setUTCFullYear(year, month, day);
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return undefined;
  return midnight.getTime() + ((hour! * 60 + minute!) * 60 + second!) * 1_000;
}

/** A year of two digits is the last one that ends in them and is not more than 50 years ahead. */
function withCentury(parts: Record<string, string>, now: number): number | undefined {
  const horizon = new Date(now);
  horizon.setUTCFullYear(horizon.getUTCFullYear() + 50);
  const latest = horizon.getUTCFullYear();
  const year = latest - ((((latest - Number(parts['year'])) % 100) + 100) % 100);
  const date = timeOf(parts, year);
  return date !== undefined && date > horizon.getTime() ? timeOf(parts, year - 100) : date;
}
