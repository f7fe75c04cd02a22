import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import type { ItemJson, JobJson } from '../client/api';
import { printable, writeJson, writeLine } from '../output';
import { formatDuration } from '../text/duration';
import { errorLine } from '../text/error-line';
import { formatCount } from '../text/number';
import { block } from '../text/table';
import { headline } from '../watch/summary';

type Flags = ApiFlags & OutputFlags;

export function defineShow(program: Command, cli: Cli): void {
  const command = program
    .command('show')
    .description('show a job, or one item of it')
    .argument('<job>', 'id of the job')
    .argument('[item]', 'id of the item');
  withJsonOption(withApiOption(command)).action(
    cli.action((job: string, item: string | undefined, flags: Flags) =>
      cli.client(flags, (client) => show(client, job, item, flags)),
    ),
  );
}

async function show({ api, session }: Client, jobId: string, itemId: string | undefined, flags: Flags): Promise<void> {
  const { stdout } = session;
  if (itemId !== undefined) {
    const item = await api.item(jobId, itemId);
    return flags.json ? writeJson(stdout, item) : writeLine(stdout, itemBlock(item));
  }
  const job = await api.job(jobId);
  return flags.json ? writeJson(stdout, job) : writeLine(stdout, jobBlock(job));
}

type Entries = [string, string][];

function jobBlock(job: JobJson): string {
  const open = (['pending', 'running', 'waiting', 'deferred'] as const).filter((name) => job.counts[name] > 0);
  const entries: Entries = [
    ['job', job.id],
    ['capability', job.capability],
    ['state', headline(job)],
  ];
  if (job.retryOf !== null) entries.push(['retry of', job.retryOf]);
  if (open.length > 0)
    entries.push(['open', open.map((name) => `${formatCount(job.counts[name])} ${name}`).join(', ')]);
  for (const [key, value] of Object.entries(job.labels)) entries.push(['label', printable(`${key}=${value}`)]);
  entries.push(['created', job.createdAt]);
  if (job.startedAt) entries.push(['started', job.startedAt]);
  if (job.finishedAt) entries.push(['finished', job.finishedAt]);
  if (job.cancel) entries.push(...cancelEntries(job.cancel));
  if (job.statement) entries.push(...statementEntries(job.statement));
  if (job.temporal.url) entries.push(['Temporal', job.temporal.url]);
  return block(entries);
}

function cancelEntries({ at, by, skipped, running, stopped, vendorCancels }: JobJson['cancel'] & object): Entries {
  const { sent, failed } = vendorCancels;
  const entries: Entries = [
    ['cancel', `asked for at ${at} by ${printable(by)}`],
    [
      '',
      `${formatCount(skipped)} skipped; ${formatCount(running)} were running, ${formatCount(stopped)} of them stopped`,
    ],
  ];
  if (sent > 0) entries.push(['', `vendors were asked to stop ${formatCount(sent)}, ${formatCount(failed)} failed`]);
  return entries;
}

function statementEntries(statement: JobJson['statement'] & object): Entries {
  const { attempts, deferrals, waits, recoveries, vendorCalls, usage, phases } = statement;
  const entries: Entries = [['attempts', formatCount(attempts)]];
  const counted: [string, number][] = [
    ['deferrals', deferrals],
    ['waits', waits],
    ['recoveries', recoveries],
    ['paid calls', vendorCalls.made],
    ['no answer', vendorCalls.unanswered],
  ];
  for (const [name, count] of counted) if (count > 0) entries.push([name, formatCount(count)]);
  for (const [name, quantity] of Object.entries(usage)) entries.push(['used', printable(`${quantity} ${name}`)]);
  const times = Object.entries(phases).filter(([, ms]) => ms > 0);
  const inWords = times.map(([phase, ms]) => `${phase.replace(/Ms$/, '')} ${formatDuration(ms)}`);
  if (inWords.length > 0) entries.push(['time', inWords.join(', ')]);
  return entries;
}

function itemBlock(item: ItemJson): string {
  const entries: Entries = [
    ['item', printable(item.id)],
    ['row', String(item.index + 1)],
    ['state', item.state],
    ['attempts', String(item.attempts)],
  ];
  if (item.finishedAt) entries.push(['finished', item.finishedAt]);
  if (item.result !== undefined) entries.push(['result', jsonText(item.result)]);
  if (item.reason !== undefined) entries.push(['reason', printable(item.reason)]);
  if (item.draft !== undefined) entries.push(['draft', jsonText(item.draft)]);
  if (item.remoteId !== undefined) entries.push(['remote id', printable(item.remoteId)]);
  if (item.wait) {
    const { name, remoteId, since } = item.wait;
    entries.push(['waits for', printable(`${name}${remoteId === null ? '' : ` (${remoteId})`} since ${since}`)]);
  }
  if (item.error) entries.push(['error', errorLine(item.error)]);
  for (const cause of item.error?.causes ?? []) entries.push(['caused by', printable(cause)]);
  if (item.parked) {
    const { due, deferrals, error } = item.parked;
    entries.push(['due', deferrals > 0 ? `${due}, deferred ${formatCount(deferrals)} times` : due]);
    if (error) entries.push(['because', errorLine(error)]);
  }
  if (item.progress) {
    const { done, total, note } = item.progress;
    entries.push(['progress', printable(`${done}${total === undefined ? '' : `/${total}`} ${note ?? ''}`.trim())]);
  }
  return block(entries);
}

/** JSON escapes most control characters by itself; the rest is `printable`'s. */
function jsonText(value: unknown): string {
  return printable(JSON.stringify(value));
}
