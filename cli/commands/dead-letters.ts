import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import type { DeadLetterDetailJson, DeadLetterJson } from '../client/api';
import type { ExitCode } from '../exit-codes';
import { printable, writeJson, writeLine } from '../output';
import { errorLine } from '../text/error-line';
import { block, table, type Column } from '../text/table';
import { sayRetried, withRetryOptions, type RetryFlags } from './retry';
import { countFrom } from './values';

interface ListFlags extends ApiFlags, OutputFlags {
  readonly job?: string;
  readonly capability?: string;
  readonly code?: string;
  readonly all?: boolean;
  readonly limit: number;
}

/** `dead-letters`, and below it `show` and `replay`. */
export function defineDeadLetters(program: Command, cli: Cli): void {
  const letters = program.command('dead-letters').description('items that the runner gave up on: list, show, replay');
  defineList(letters, cli);
  const show = letters
    .command('show')
    .description('show one, with all that a replay needs')
    .argument('<id>', 'its number in the list');
  withJsonOption(withApiOption(show)).action(
    cli.action((id: string, flags: ApiFlags & OutputFlags) =>
      cli.client(flags, (client) => showOne(client, id, flags)),
    ),
  );
  const replay = letters
    .command('replay')
    .description('run its item again, as a new job; see also: itemwise retry JOB --dead')
    .argument('<id>', 'its number in the list');
  withRetryOptions(replay).action(
    cli.action((id: string, flags: RetryFlags) => cli.client(flags, (client) => replayOne(client, id, flags))),
  );
}

function defineList(letters: Command, cli: Cli): void {
  const list = letters
    .command('list', { isDefault: true })
    .description('those that nobody has dealt with, the newest first')
    .option('--job <id>', 'only of this job')
    .option('--capability <name@version>', 'only of this capability')
    .option('--code <code>', 'only with this code of error')
    .option('--all', 'also those that were replayed')
    .option('--limit <n>', 'how many', countFrom(1, 1_000), 50);
  withJsonOption(
    withApiOption(list),
    'one line of JSON on stdout: {"deadLetters": [...], "next": cursor or null}',
  ).action(cli.action((flags: ListFlags) => cli.client(flags, (client) => listAll(client, flags))));
}

const COLUMNS: readonly Column<DeadLetterJson>[] = [
  { title: 'ID', value: (letter) => letter.id, right: true },
  { title: 'AT', value: (letter) => letter.at.replace('T', ' ').replace(/\.\d+Z$/, 'Z') },
  { title: 'JOB', value: (letter) => letter.job },
  { title: 'ITEM', value: (letter) => letter.item },
  { title: 'TRIED', value: (letter) => letter.attempts, right: true },
  { title: 'ERROR', value: (letter) => errorLine(letter.error), max: 80 },
];
const REPLAYED: Column<DeadLetterJson> = { title: 'REPLAYED BY', value: (letter) => letter.replayedBy ?? '' };

async function listAll({ api, session, hint }: Client, flags: ListFlags): Promise<void> {
  const { job, capability, code, all, limit, json } = flags;
  const page = await api.deadLetters({ job, capability, code, ...(!all && { replayed: 'false' }) }, limit);
  if (json) return writeJson(session.stdout, page);
  if (page.deadLetters.length === 0) return writeLine(session.stdout, 'there are no such dead letters');
  await writeLine(session.stdout, table(all ? [...COLUMNS, REPLAYED] : COLUMNS, page.deadLetters));
  if (page.next !== null) session.stderr.write(`there are more than ${limit}: --limit shows more\n`);
  session.stderr.write(
    `one in full: ${hint('dead-letters show ID')}; all of a job again: ${hint('retry JOB --dead')}\n`,
  );
}

async function showOne({ api, session }: Client, id: string, { json }: OutputFlags): Promise<void> {
  const letter = await api.deadLetter(id);
  if (json) return writeJson(session.stdout, letter);
  await writeLine(session.stdout, block(entriesOf(letter)));
}

function entriesOf(letter: DeadLetterDetailJson): [string, string][] {
  const entries: [string, string][] = [
    ['dead letter', letter.id],
    ['job', letter.job],
    ['capability', letter.capability],
    ['item', printable(letter.item)],
    ['at', letter.at],
    ['attempts', String(letter.attempts)],
    ['error', errorLine(letter.error)],
  ];
  for (const cause of letter.error.causes ?? []) entries.push(['caused by', printable(cause)]);
  for (const { call, vendor, key, remoteId } of letter.openCalls) {
    const known = remoteId === null ? '' : `, remote id ${remoteId}`;
    entries.push(['open call', printable(`${call}${vendor === null ? '' : ` of ${vendor}`}: key ${key}${known}`)]);
  }
  entries.push(['input', printable(JSON.stringify(letter.input))]);
  entries.push(['params', printable(JSON.stringify(letter.params))]);
  for (const [key, value] of Object.entries(letter.labels)) entries.push(['label', printable(`${key}=${value}`)]);
  if (letter.replayedBy !== null) entries.push(['replayed by', letter.replayedBy]);
  return entries;
}

async function replayOne(client: Client, id: string, flags: RetryFlags): Promise<ExitCode> {
  return sayRetried(client, await client.api.replay(id, flags.openCalls), flags);
}
