import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import type { LogLineJson } from '../client/api';
import { printable, writeJson, writeLine } from '../output';

type Flags = ApiFlags & OutputFlags;

export function defineLog(program: Command, cli: Cli): void {
  const command = program.command('log').description('the log of a job').argument('<job>', 'id of the job');
  withJsonOption(withApiOption(command), 'a line of JSON for each line of the log').action(
    cli.action((job: string, flags: Flags) => cli.client(flags, (client) => log(client, job, flags))),
  );
}

async function log({ api, session }: Client, job: string, { json }: Flags): Promise<void> {
  for await (const line of api.log(job)) {
    if (json) await writeJson(session.stdout, line);
    else await writeLine(session.stdout, format(line));
  }
}

function format({ at, level, source, message, itemId }: LogLineJson): string {
  const item = itemId === null ? '' : ` [${itemId}]`;
  return printable(`${at} ${level.padEnd(5)} ${source.padEnd(7)}${item} ${message}`);
}
