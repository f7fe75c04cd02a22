import { printable } from '../output';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/** What the prefix says already, or nobody on a development machine asks for. */
const QUIET = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'name', 'role', 'v']);

/** A line of a child's log for a person: JSON of pino is laid out, anything else stays as it is. */
export function formatLogLine(who: string, line: string): string {
  const entry = parse(line);
  if (!entry) return `${who.padEnd(6)} ${line}`;
  const { time, level, msg } = entry;
  const at = typeof time === 'number' || typeof time === 'string' ? clockTime(time) : '';
  const fields = Object.entries(entry)
    .filter(([name]) => !QUIET.has(name))
    .map(([name, value]) => `${name}=${fieldText(value)}`);
  const text = [typeof msg === 'string' ? msg : '', ...fields].filter((part) => part !== '').join(' ');
  return printable(`${who.padEnd(6)} ${at} ${levelName(level).padEnd(5)} ${text}`);
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function levelName(level: unknown): string {
  if (typeof level === 'number') return LEVELS[level] ?? String(level);
  return typeof level === 'string' ? level : '';
}

function clockTime(time: number | string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : date.toTimeString().slice(0, 8);
}

/** Of an error the message; its stack is in the log of `--json`. */
function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'message' in value) return String(value.message);
  return JSON.stringify(value) ?? '';
}
