import { Option, type Command } from 'commander';
import { OPEN_CALL_CHOICES, type OpenCallChoice } from '../../store';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import type { RetriedJson, RetryRequest } from '../client/api';
import { EXIT, type ExitCode } from '../exit-codes';
import { writeJson, writeLine } from '../output';
import { plural } from '../text/number';
import { watchToEnd } from './watch-to-end';

export interface RetryFlags extends ApiFlags, OutputFlags {
  readonly openCalls?: OpenCallChoice;
  readonly watch?: boolean;
}

interface Flags extends RetryFlags {
  readonly item?: string[];
  readonly outcome?: NonNullable<RetryRequest['outcome']>;
  readonly dead?: boolean;
}

export function defineRetry(program: Command, cli: Cli): void {
  const command = program
    .command('retry')
    .description('run items of a job that has ended again, as a new job; what was paid for is not paid for again')
    .argument('<job>', 'id of the job')
    .option('--item <id>', 'only this item; may be repeated', (id: string, before: string[] = []) => [...before, id])
    .addOption(
      new Option('--outcome <outcome>', 'items that ended so (default: failed)')
        .choices(['failed', 'needs_review', 'skipped'])
        .conflicts('item'),
    )
    .addOption(new Option('--dead', 'only dead letters').conflicts(['item', 'outcome']));
  withRetryOptions(command).action(
    cli.action((job: string, flags: Flags) => cli.client(flags, (client) => retry(client, job, flags))),
  );
}

export function withRetryOptions(command: Command): Command {
  const choices = new Option(
    '--open-calls <what>',
    'items with a paid call whose answer is not known: leave them out (default), look the call up again, or, where you know that nothing was charged, send it again',
  ).choices(OPEN_CALL_CHOICES);
  return withJsonOption(withApiOption(command.addOption(choices))).option('--watch', 'follow the new job to its end');
}

async function retry(client: Client, id: string, flags: Flags): Promise<ExitCode> {
  const { item, outcome, dead, openCalls } = flags;
  const job = await client.api.retry(id, {
    ...(item && { items: item }),
    ...(outcome && { outcome }),
    ...(dead && { deadLettered: true }),
    ...(openCalls && { openCalls }),
  });
  return sayRetried(client, job, flags);
}

/** Says which job runs the items again and what was left out, and follows it where that is wanted. */
export async function sayRetried(client: Client, job: RetriedJson, flags: RetryFlags): Promise<ExitCode> {
  const { session, hint } = client;
  const { openCalls = 0, retriedSince = 0 } = job.leftOut ?? {};
  if (openCalls > 0) {
    session.stderr.write(
      `${plural(openCalls, 'item')} with a paid call whose answer is not known left out: see --open-calls\n`,
    );
  }
  if (retriedSince > 0) session.stderr.write(`${plural(retriedSince, 'item')} left out: a later job has them\n`);
  if (flags.watch) return watchToEnd(client, job, flags);
  if (flags.json) await writeJson(session.stdout, job);
  else {
    await writeLine(session.stdout, job.id);
    session.stderr.write(`${plural(job.items, 'item')} run again; follow: ${hint(`watch ${job.id}`)}\n`);
  }
  return EXIT.ok;
}
