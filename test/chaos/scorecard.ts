import type { Played } from './play';

/** A scenario as it went. */
export interface Line extends Partial<Played> {
  readonly name: string;
  readonly seed: number;
  readonly ms: number;
  /** Why it failed. */
  readonly error?: string;
}

const HEAD = [
  'scenario',
  'seed',
  'faults',
  'items',
  'outcomes',
  'attempts',
  'charged twice',
  'time',
  'result',
  'notes',
];

/** The table that docs/faults.md keeps. */
export function scorecard(lines: readonly Line[]): string {
  const rows = [HEAD, HEAD.map(() => '---'), ...lines.map(cells)];
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function cells({ name, seed, ms, facts, account, error }: Line): string[] {
  const time = `${Math.round(ms / 1_000)} s`;
  if (!facts || !account)
    return [name, String(seed), '', '', '', '', '', time, 'FAILED', (error ?? '').split('\n')[0]!];
  const outcomes = Object.entries(account.outcomes)
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${figure(count)} ${outcome}`)
    .join(', ');
  const { items, attempts, chargedTwice } = account;
  const figures = [facts.faults, items].map(figure);
  return [
    name,
    String(seed),
    ...figures,
    outcomes,
    figure(attempts),
    figure(chargedTwice),
    time,
    'passed',
    facts.note ?? '',
  ];
}

function figure(count: number): string {
  return count.toLocaleString('en');
}
