/**
 * The chaos suite at full length: `npm run test:chaos [-- --only <part of a name> ...] [--seed <n>] [--list] [--short]`. Plays
 * each scenario on a service of its own, prints the scorecard, and exits with 1 when one of them failed.
 */
import { parseArgs } from 'node:util';
import { ensureTemporal } from '../../temporal-dev';
import { play, seedOf, type Played } from './play';
import { SCENARIOS } from './scenarios';
import { scorecard, type Line } from './scorecard';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seed: { type: 'string' },
    list: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
  },
});

async function main(): Promise<number> {
  const { only = [''], list, short } = values;
  const chosen = SCENARIOS.filter(({ name }) => only.some((part) => name.includes(part)));
  if (list || chosen.length === 0) {
    for (const { name, about } of SCENARIOS) console.log(`${name}\n    ${about}`);
    return list ? 0 : 1;
  }
  const seed = seedOf({ TEST_CHAOS_SEED: values.seed ?? process.env['TEST_CHAOS_SEED'] });
  console.log(`seed ${seed}: the same again with --seed ${seed}`);
  // A server that the person runs is not for this: it would be filled with jobs.
  const temporal = await ensureTemporal({ env: { ...process.env, TEMPORAL_ADDRESS: '' } });
  const lines: Line[] = [];
  try {
    for (const scenario of chosen) {
      console.log(`${scenario.name}: ${scenario.about}`);
      const line = await lineOf(scenario.name, seed, () =>
        play(scenario, { seed, long: !short, temporalAddress: temporal.address }),
      );
      console.log(line.error ? `  FAILED: ${line.error}` : `  passed in ${Math.round(line.ms / 1_000)} s`);
      lines.push(line);
    }
  } finally {
    await temporal.stop();
  }
  console.log(`\n${scorecard(lines)}`);
  return lines.some(({ error }) => error !== undefined) ? 1 : 0;
}

async function lineOf(name: string, seed: number, work: () => Promise<Played>): Promise<Line> {
  const from = Date.now();
  try {
    return { name, seed, ...(await work()) };
  } catch (error) {
    return { name, seed, ms: Date.now() - from, error: error instanceof Error ? error.message : String(error) };
  }
}

// What runs ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
