import { InvalidArgumentError } from 'commander';

/** Readers of option values. Each throws what commander shows as a usage error. */

export function countFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It is not a whole number from ${least} to ${most}.`);
  };
}

export function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${(error as Error).message}`);
  }
}

/** Collects `--label key=value`. */
export function label(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [key, value] = splitLabel(text);
  if (Object.hasOwn(before, key)) throw new InvalidArgumentError(`The label ${key} is given twice.`);
  // Not by assignment, which `__proto__` would escape.
  return Object.fromEntries([...Object.entries(before), [key, value]]);
}

/** `key=value` as the API's filter wants it. */
export function labelFilter(text: string): string {
  const [key, value] = splitLabel(text);
  if (key.includes(':')) throw new InvalidArgumentError('A label with a colon in its key cannot be looked for.');
  return `${key}:${value}`;
}

function splitLabel(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('Write key=value.');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** It travels in a header. */
export function idempotencyKey(text: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(text)) return text;
  throw new InvalidArgumentError('It is not 1 to 256 characters of ASCII without spaces.');
}
