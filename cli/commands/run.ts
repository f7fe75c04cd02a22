import type { Command } from 'commander';
import {
  withApiOption,
  withClient,
  withJsonOption,
  type ApiFlags,
  type Cli,
  type Client,
  type OutputFlags,
} from '../cli';
import type { JobJson } from '../client/api';
import { exitCodeOf, type ExitCode } from '../exit-codes';
import { Interrupted, UsageError } from '../failure';
import { lazy } from '../lazy';
import { write, writeJson, writeLine } from '../output';
import type { Session } from '../session';
import { plural } from '../text/number';
import { follow } from '../watch/follow';
import { createProgress } from '../watch/progress';
import { summarize } from '../watch/summary';
import { saveResults } from './save-results';
import { FILE_HELP, headOf, withSubmitOptions, type SubmitFlags } from './submit-options';
import { upload } from './upload';

interface Flags extends SubmitFlags, ApiFlags, OutputFlags {
  readonly local?: boolean;
  readonly payloads?: string;
  readonly data?: string;
  readonly out?: string;
}

export function defineRun(program: Command, cli: Cli): void {
  const description = 'run a job on the items of a file, and write its outcomes (NDJSON) to stdout';
  const command = withSubmitOptions(program.command('run').description(description))
    .option('--local', 'in this process, without a server')
    .option('--payloads <path>', 'with --local: module that exports the payloads (env: ITEMWISE_PAYLOADS)')
    .option('--data <dir>', 'with --local: folder that keeps the job (default: a temporary one)')
    .option('--out <file>', 'write the outcomes to a file')
    .addHelpText(
      'after',
      `${FILE_HELP}\n\nCtrl-C cancels the job; the outcomes that there are by then are written all the same.`,
    );
  withJsonOption(
    withApiOption(command),
    'the job as it ended, as a line of JSON: with --out on stdout, else on stderr',
  ).action(cli.action((file: string, flags: Flags) => run(cli.shell.session(), file, flags)));
}

async function run(session: Session, file: string, flags: Flags): Promise<ExitCode> {
  const { api, local, payloads, data } = flags;
  if (!local && (payloads ?? data) !== undefined) throw new UsageError('--payloads and --data are for --local');
  if (!local) return withClient(session, api, (client) => runOn(client, file, flags));
  if (api !== undefined) throw new UsageError('--local needs no --api');
  const service = await lazy.local().startLocalService({ payloads, data });
  try {
    return await withClient(session, service.url, (client) => runOn(client, file, flags));
  } finally {
    await service.stop();
  }
}

async function runOn(client: Client, file: string, flags: Flags): Promise<ExitCode> {
  const submitted = await upload(client, file, flags, headOf(flags));
  const { job, interrupted } = await followOrCancel(client, submitted);
  // Also after a Ctrl-C, which has ended the client's own signal: the next one ends the process.
  await withClient({ ...client.session, signal: new AbortController().signal }, client.api.url, (late) =>
    finish(late, job, flags),
  );
  if (interrupted) throw new Interrupted(`Interrupted; the job is ${job.state}`);
  return exitCodeOf(job.state);
}

async function followOrCancel(client: Client, from: JobJson): Promise<{ job: JobJson; interrupted: boolean }> {
  const { session, api } = client;
  const progress = createProgress(session);
  const { clock } = session;
  try {
    return { job: await follow(from, { api, clock, progress, signal: session.signal }), interrupted: false };
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  }
  progress.notice('Cancelling the job; Ctrl-C again leaves at once.');
  const { signal } = new AbortController();
  const job = await withClient({ ...session, signal }, api.url, async (late) =>
    follow(await late.api.act(from.id, 'cancel'), { api: late.api, clock, progress, signal }),
  );
  return { job, interrupted: true };
}

async function finish({ api, session }: Client, job: JobJson, { out, json, local }: Flags): Promise<void> {
  const { stdout, stderr } = session;
  const bytes = api.results(job.id);
  if (out === undefined) for await (const chunk of bytes) await write(stdout, chunk);
  else stderr.write(`${plural(await saveResults(bytes, out), 'outcome')} in ${out}\n`);
  if (json) await writeJson(out === undefined ? stderr : stdout, job);
  // A local job cannot be asked for later: no hints.
  else
    await writeLine(
      stderr,
      await summarize(local ? { ...job, temporal: { ...job.temporal, url: null } } : job, api, undefined),
    );
}
