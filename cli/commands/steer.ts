import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import { EXIT, type ExitCode } from '../exit-codes';
import type { Verb } from '../client/api';
import { writeJson, writeLine } from '../output';
import { headline } from '../watch/summary';
import { watchToEnd } from './watch-to-end';

interface Flags extends ApiFlags, OutputFlags {
  readonly wait?: boolean;
}

/** `cancel`, `pause` and `resume`. */
export function defineSteering(program: Command, cli: Cli): void {
  const cancel = steering(program, cli, 'cancel', 'cancel a job: what runs ends, what has not begun is skipped');
  cancel.option('--wait', 'until it has ended; then exit code 0, whichever its state');
  steering(program, cli, 'pause', 'send nothing new; what runs goes on');
  steering(program, cli, 'resume', 'let a paused job go on');
}

function steering(program: Command, cli: Cli, verb: Verb, description: string): Command {
  const command = program.command(verb).description(description).argument('<job>', 'id of the job');
  return withJsonOption(withApiOption(command), 'the job as one line of JSON on stdout').action(
    cli.action((job: string, flags: Flags) => cli.client(flags, (client) => steer(client, job, verb, flags))),
  );
}

async function steer(client: Client, id: string, verb: Verb, flags: Flags): Promise<ExitCode> {
  const { api, session } = client;
  const job = await api.act(id, verb);
  if (flags.wait) await watchToEnd(client, job, flags);
  else if (flags.json) await writeJson(session.stdout, job);
  else await writeLine(session.stdout, `${job.id} is ${headline(job)}`);
  return EXIT.ok;
}
