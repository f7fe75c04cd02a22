/**
 * `npm run demo`: everything at once on free ports and in a temporary folder, and one job of 406 vehicles.
 * The only file of the command line that knows what the items are about.
 */
import { Command } from 'commander';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { withClient, type Client } from './cli';
import type { ItemJson, JobJson } from './client/api';
import { startDev, untilStopped, type Dev } from './dev';
import { EXIT } from './exit-codes';
import { Interrupted, toFailure } from './failure';
import { printable } from './output';
import { readItems } from './readers';
import { systemClock, type Session } from './session';
import { formatDuration } from './text/duration';
import { block } from './text/table';
import { follow } from './watch/follow';
import { createProgress } from './watch/progress';
import { summarize } from './watch/summary';

const CAPABILITY = 'vehicle.normalize@1';
const FEED = join('node_modules', 'vega-datasets', 'data', 'cars.json');
const EXPECTED_ITEMS = 406;
const SHOWN_CORRECTIONS = 3;
/** The children's logs are shown from this level of pino on. */
const WARNING = 40;

const say = (line: string): void => console.log(line);

async function main(): Promise<void> {
  const flags = new Command('demo')
    .description('Starts everything, runs a job of 406 vehicles, and stays up until Ctrl-C.')
    .option('--exit', 'stop by itself when the job has ended; exit code 0 if every item has its outcome')
    .parse()
    .opts<{ exit?: boolean }>();
  const feed = findFeed();
  const data = mkdtempSync(join(tmpdir(), 'itemwise-demo-'));
  process.once('exit', () => rmSync(data, { recursive: true, force: true }));
  const start = (): Promise<Dev> =>
    startDev({ data, port: '0', temporalPort: 0, temporalUiPort: 0, say, log: warnings });
  await untilStopped(start, {
    say,
    whenUp: async (dev, stopping) => {
      say(`\n${places(dev)}\n`);
      // An API that dies takes the job's news with it: `done` says so first.
      await Promise.race([runJob(dev, feed, stopping), dev.done]);
      if (stopping.aborted) return;
      if (flags.exit) await dev.stop();
      else say('\nEverything stays up to be looked at; Ctrl-C stops it.');
    },
  });
  say('Stopped.');
}

async function runJob(dev: Dev, feed: string, signal: AbortSignal): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const session: Session = { stdin, stdout, stderr, env, signal, terminal: stderr.isTTY, clock: systemClock };
  const done = withClient(session, dev.api, async (client) => {
    const { api } = client;
    say(`Submitting ${feed} to ${CAPABILITY} …`);
    const submitted = await api.submit(
      { capability: CAPABILITY, labels: { from: 'demo' } },
      await readItems(feed, { stdin }),
    );
    const progress = createProgress(session);
    const job = await follow(submitted, { api, progress, signal, clock: systemClock });
    say(`\n${await summarize(job, api, undefined)}`);
    await tellOutcomes(client, job);
    say(`\n${links(dev, job)}`);
    if (!addsUp(job)) throw new Error(`the job is not as it should be: ${JSON.stringify(job.counts)}`);
  });
  await done.catch((error: unknown) => {
    if (!(error instanceof Interrupted)) throw error;
  });
}

/** A few outcomes that show what the work was. */
async function tellOutcomes({ api }: Client, job: JobJson): Promise<void> {
  const succeeded = await api.items(job.id, 'succeeded', 1_000);
  const corrected = succeeded.filter((item) => correctionOf(item) !== undefined);
  say(`\nCorrected names: ${corrected.length}, such as`);
  for (const item of corrected.slice(0, SHOWN_CORRECTIONS)) {
    const { make, model } = item.result as { make: string; model: string | null };
    const { from, to } = correctionOf(item) ?? {};
    say(printable(`  item ${item.id}: "${from}" is ${to}: ${make} ${model ?? ''}`.trimEnd()));
  }
  const review = await api.items(job.id, 'needs_review', 10);
  if (review.length > 0) say('For a person to decide:');
  for (const item of review) {
    say(printable(`  item ${item.id}: ${item.reason}`));
    say(printable(`    draft: ${JSON.stringify(item.draft)}`));
  }
}

function correctionOf(item: ItemJson): { from: string; to: string } | undefined {
  return (item.result as { nameCorrected?: { from: string; to: string } } | undefined)?.nameCorrected;
}

function addsUp({ counts, items, finishedAt }: JobJson): boolean {
  const ended = counts.succeeded + counts.failed + counts.needs_review + counts.skipped;
  return finishedAt !== null && items === EXPECTED_ITEMS && ended === items && counts.succeeded > 0;
}

function places({ api, temporalUi }: Dev): string {
  return block([
    ['API', api],
    ['Temporal UI', temporalUi ?? 'none'],
  ]);
}

function links({ api }: Dev, job: JobJson): string {
  return block([
    ['The job in the Temporal UI', job.temporal.url ?? 'none'],
    ['The job at the API', `${api}/v1/jobs/${job.id}`],
    ['Its outcomes', `${api}/v1/jobs/${job.id}/results`],
    ['Or', `npx itemwise show ${job.id} --api ${api}`],
  ]);
}

/** The dataset is a development dependency; npm may have put it into a folder further up. */
function findFeed(): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const file = join(folder, FEED);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) break;
  }
  throw new Error(`${FEED} is not there: the demo needs the development dependencies, so run \`npm ci\` first`);
}

function warnings(who: string, line: string): void {
  const level = /"level":(\d+)/.exec(line)?.[1];
  if (level !== undefined && Number(level) >= WARNING) console.error(`${who}: ${line}`);
}

const startedAt = performance.now();
main()
  .then(() => say(`The demo took ${formatDuration(performance.now() - startedAt)}.`))
  .catch((error: unknown) => {
    console.error(`demo: ${toFailure(error).message}`);
    process.exitCode = EXIT.unexpected;
  })
  // What still holds the process then is not waited for.
  .finally(() => setTimeout(() => process.exit(), 1_000).unref());
