import { parseArgs } from 'node:util';
import { runSeed, type SeedReport } from './run-seed';

/** Lines of the trace of a failing seed that are printed. */
const TAIL = 150;

/** Progress is said this often, in seeds. */
const EVERY = 100;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      trace: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
    },
  });
  const [seeds, from] = [Number(values.seeds), Number(values.from)];
  if (values.trace) return void show(await runSeed(from, { traceAll: true }), Infinity);
  const tally = new Tally();
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await runSeed(seed);
    tally.add(report);
    if (report.violations.length > 0) show(report, TAIL);
    if (tally.seeds % EVERY === 0) console.log(tally.progress());
    if (report.violations.length > 0 && !values['keep-going']) break;
  }
  console.log(tally.summary());
}

function show({ seed, violations, trace, hash }: SeedReport, tail: number): void {
  console.log(trace.slice(tail === Infinity ? 0 : -tail).join('\n'));
  console.log(`\nseed ${seed}: ${violations.length} promises broken; its trace is ${hash.slice(0, 16)}`);
  for (const { rule, what } of violations) console.log(`  ${rule}: ${what.slice(0, 1_000)}`);
  console.log(`again: npm run sim -- --seeds 1 --from ${seed} --trace`);
  if (violations.length > 0) process.exitCode = 1;
}

/** What has come of the seeds so far. */
class Tally {
  seeds = 0;
  private readonly failed: number[] = [];
  private readonly faults: Record<string, number> = {};
  private readonly states: Record<string, number> = {};
  private virtualMs = 0;
  private readonly startedAt = Date.now();

  add(report: SeedReport): void {
    this.seeds++;
    if (report.violations.length > 0) this.failed.push(report.seed);
    this.virtualMs += report.tookMs;
    for (const [kind, count] of Object.entries(report.faults)) this.faults[kind] = (this.faults[kind] ?? 0) + count;
    for (const state of report.states) this.states[state] = (this.states[state] ?? 0) + 1;
  }

  progress(): string {
    const rate = this.seeds / ((Date.now() - this.startedAt) / 1_000);
    return `${this.seeds} seeds, ${rate.toFixed(1)}/s, ${this.failed.length} failed`;
  }

  summary(): string {
    const list = (counts: Record<string, number>): string =>
      Object.entries(counts)
        .sort(([, a], [, b]) => b - a)
        .map(([name, count]) => `${name} ${count}`)
        .join(', ');
    return [
      this.progress(),
      `virtual time: ${(this.virtualMs / 3_600_000).toFixed(1)} h`,
      `jobs: ${list(this.states)}`,
      `faults: ${list(this.faults) || 'none'}`,
      ...(this.failed.length > 0 ? [`failed: ${this.failed.join(' ')}`] : []),
    ].join('\n');
  }
}

void main();
