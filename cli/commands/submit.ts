import type { Command } from 'commander';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import { EXIT, type ExitCode } from '../exit-codes';
import { writeJson, writeLine } from '../output';
import { plural } from '../text/number';
import { FILE_HELP, headOf, withSubmitOptions, type SubmitFlags } from './submit-options';
import { upload } from './upload';
import { idempotencyKey } from './values';
import { watchToEnd } from './watch-to-end';

interface Flags extends SubmitFlags, ApiFlags, OutputFlags {
  readonly idempotencyKey?: string;
  readonly watch?: boolean;
}

export function defineSubmit(program: Command, cli: Cli): void {
  const command = withSubmitOptions(program.command('submit').description('submit the items of a file as a job'))
    .option('--idempotency-key <key>', 'submitting the same again with this key gives the same job', idempotencyKey)
    .option('--watch', 'follow the job to its end; the exit code is that of `watch`')
    .addHelpText('after', FILE_HELP);
  withJsonOption(withApiOption(command), 'the job as one line of JSON on stdout; with --watch as it ended').action(
    cli.action((file: string, flags: Flags) => cli.client(flags, (client) => submit(client, file, flags))),
  );
}

async function submit(client: Client, file: string, flags: Flags): Promise<ExitCode> {
  const { session, hint } = client;
  const job = await upload(client, file, flags, { ...headOf(flags), idempotencyKey: flags.idempotencyKey });
  if (flags.watch) {
    session.stderr.write(`${job.id}: ${plural(job.items, 'item')} for ${job.capability}\n`);
    return watchToEnd(client, job, flags);
  }
  if (flags.json) await writeJson(session.stdout, job);
  else {
    await writeLine(session.stdout, `${job.id} is ${job.state}: ${plural(job.items, 'item')} for ${job.capability}`);
    await writeLine(session.stdout, `  follow it: ${hint(`watch ${job.id}`)}`);
  }
  return EXIT.ok;
}
