import { toErrorInfo } from '../model/error-info';
import type { Log } from './deps';

/** Longest text of a line, its message or one of its fields, characters. */
export const MAX_LINE = 4_000;

type Level = keyof Log;

/**
 * A log that takes whatever a payload throws or says: lines are bounded, and writing one never throws. A logger that
 * trips over a getter would otherwise end the unit that it speaks of.
 */
export function safeLog(log: Log): Log {
  const line = (level: Level) => (fields: object, message: string) => {
    try {
      log[level](plainFields(fields), lineText(message));
    } catch {
      // There is nobody to tell.
    }
  };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

/** Fields as plain, bounded data; `err` as an error is stored. Those that cannot be looked at say so. */
export function plainFields(fields: unknown): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  try {
    for (const [name, value] of Object.entries(Object(fields) as object)) {
      plain[name] = name === 'err' ? errorField(value) : plainValue(value);
    }
  } catch {
    plain['fields'] = UNREADABLE;
  }
  return plain;
}

/** A message as it stands in a line. */
export function lineText(message: unknown): string {
  try {
    return String(message).slice(0, MAX_LINE);
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE = '(cannot be shown)';

function errorField(error: unknown): unknown {
  try {
    return toErrorInfo(error);
  } catch {
    return UNREADABLE;
  }
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, MAX_LINE);
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? value : simple(value);
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) return UNREADABLE;
    return text.length > MAX_LINE ? text.slice(0, MAX_LINE) : (JSON.parse(text) as unknown);
  } catch {
    return UNREADABLE;
  }
}

/** What JSON has no word for is named. */
function simple(value: unknown): unknown {
  return value === null || value === undefined || typeof value === 'boolean' ? value : lineText(value);
}
