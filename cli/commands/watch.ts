import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type OutputFlags } from '../cli';
import { watchToEnd } from './watch-to-end';

export function defineWatch(program: Command, cli: Cli): void {
  const command = program.command('watch').description('follow a job to its end').argument('<job>', 'id of the job');
  withJsonOption(
    withApiOption(command),
    'the job as it ended, as one line of JSON on stdout; progress is on stderr',
  ).action(
    cli.action((job: string, flags: ApiFlags & OutputFlags) =>
      cli.client(flags, (client) => watchToEnd(client, job, flags)),
    ),
  );
}
