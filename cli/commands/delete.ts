import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type OutputFlags } from '../cli';
import { writeJson, writeLine } from '../output';

export function defineDelete(program: Command, cli: Cli): void {
  const command = program
    .command('delete')
    .description('delete a job that has ended, with its items')
    .argument('<job>', 'id of the job');
  withJsonOption(withApiOption(command)).action(
    cli.action((job: string, flags: ApiFlags & OutputFlags) =>
      cli.client(flags, async ({ api, session }) => {
        await api.remove(job);
        if (flags.json) await writeJson(session.stdout, { deleted: job });
        else await writeLine(session.stdout, `${job} is deleted`);
      }),
    ),
  );
}
