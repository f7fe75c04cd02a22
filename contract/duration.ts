import ms from 'ms';

/** Milliseconds as a number, or a text such as `30s`, `5m`, `1h`, `250ms`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/**
 * A duration in milliseconds.
 * @throws TypeError when it is not a non-negative, finite duration.
 */
export function toMs(duration: Duration): number {
  const value = typeof duration === 'number' ? duration : parse(duration);
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new TypeError(
      `not a duration: ${JSON.stringify(duration)} (write 30s, 5m, 250ms or a number of milliseconds)`,
    );
  }
  return value;
}

/** The library throws for an empty or very long text, and answers undefined or NaN for other nonsense. */
function parse(text: Exclude<Duration, number>): number | undefined {
  try {
    return ms(text);
  } catch {
    return undefined;
  }
}
