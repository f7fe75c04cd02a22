import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import type { WhyJson } from '../client/api';
import { printable, writeJson, writeLine } from '../output';
import { formatCount } from '../text/number';
import { block } from '../text/table';

type Flags = ApiFlags & OutputFlags;

export function defineWhy(program: Command, cli: Cli): void {
  const command = program.command('why').description('say what a job waits for now').argument('<job>', 'id of the job');
  withJsonOption(withApiOption(command)).action(
    cli.action((job: string, flags: Flags) => cli.client(flags, (client) => why(client, job, flags))),
  );
}

async function why({ api, session }: Client, id: string, { json }: Flags): Promise<void> {
  const answer = await api.why(id);
  if (json) return writeJson(session.stdout, answer);
  const entries = entriesOf(answer);
  await writeLine(session.stdout, printable(answer.sentence));
  if (entries.length > 0) await writeLine(session.stdout, `\n${block(entries)}`);
}

/** Facts that the sentence may have had no room for. */
function entriesOf({ cause, facts }: WhyJson): [string, string][] {
  if (cause === 'ended') return [];
  const { counts, units, slowest, parked, workers, window } = facts;
  const entries: [string, string][] = [
    ['cause', cause],
    ['state', `${facts.state} since ${facts.stateSince}`],
    ['open', openOf(counts)],
    ['in flight', `${formatCount(units.length)} units; at most ${formatCount(window)} items at once`],
    [
      'workers',
      `${formatCount(workers.alive)} alive, ${formatCount(workers.withCapability)} of them with the capability`,
    ],
  ];
  for (const { item, startedAt, worker } of slowest)
    entries.push(['slow', printable(`${item} since ${startedAt} on ${worker}`)]);
  for (const { kind, code, message, count, due } of parked.reasons) {
    const why = code ? ` (${code}: ${message.slice(0, 80)})` : '';
    entries.push(['parked', printable(`${formatCount(count)} ${kind}${why}, the first due ${due}`)]);
  }
  return entries;
}

function openOf(counts: WhyJson['facts']['counts']): string {
  const names = ['pending', 'running', 'waiting', 'deferred'] as const;
  return names.map((name) => `${formatCount(counts[name])} ${name}`).join(', ');
}
