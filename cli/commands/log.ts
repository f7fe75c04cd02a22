import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import type { LogLineJson } from '../client/api';
import { printable, writeJson, writeLine } from '../output';
import { followEvents } from '../watch/events';

interface Flags extends ApiFlags, OutputFlags {
  readonly follow?: boolean;
}

export function defineLog(program: Command, cli: Cli): void {
  const command = program
    .command('log')
    .description('the log of a job')
    .argument('<job>', 'id of the job')
    .option('-f, --follow', 'go on with what is written from now on, to the end of the job');
  withJsonOption(withApiOption(command), 'a line of JSON for each line of the log').action(
    cli.action((job: string, flags: Flags) => cli.client(flags, (client) => log(client, job, flags))),
  );
}

async function log(client: Client, job: string, { json, follow }: Flags): Promise<void> {
  const { api, session } = client;
  for await (const line of follow ? followLog(client, job) : api.log(job)) {
    if (json) await writeJson(session.stdout, line);
    else await writeLine(session.stdout, format(line));
  }
}

async function* followLog({ api, session }: Client, job: string): AsyncGenerator<LogLineJson> {
  const { clock, signal, stderr } = session;
  const notice = (message: string): void => void stderr.write(`${message}\n`);
  for await (const event of followEvents(job, { api, clock, signal, notice, log: true })) {
    if (event.kind === 'reset') notice(`the log comes again from its beginning: ${printable(event.reason)}`);
    if (event.kind === 'state' || event.kind === 'log') yield event.line;
  }
}

function format({ at, level, source, message, itemId }: LogLineJson): string {
  const item = itemId === null ? '' : ` [${itemId}]`;
  return printable(`${at} ${level.padEnd(5)} ${source.padEnd(7)}${item} ${message}`);
}
