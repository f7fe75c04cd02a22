import { Option, type Command } from 'commander';
import { OUTCOMES, type Outcome } from '../../model/states';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import { write, writeJson } from '../output';
import { plural } from '../text/number';
import { saveResults } from './save-results';

interface Flags extends ApiFlags, OutputFlags {
  readonly outcome?: Outcome;
  readonly out?: string;
  readonly lineage?: boolean;
}

export function defineResults(program: Command, cli: Cli): void {
  const command = program
    .command('results')
    .description('the outcomes of a job so far, one item a line (NDJSON)')
    .argument('<job>', 'id of the job')
    .addOption(new Option('--outcome <outcome>', 'only items that ended so').choices(OUTCOMES))
    .option('--lineage', 'the newest outcome of each item over the job, those it retries and those that retry it')
    .option('--out <file>', 'write to a file (default: stdout)');
  withJsonOption(
    withApiOption(command),
    'with --out: {"file": ..., "results": n} on stdout; else it is JSON anyway',
  ).action(cli.action((job: string, flags: Flags) => cli.client(flags, (client) => results(client, job, flags))));
}

async function results({ api, session }: Client, job: string, { outcome, out, lineage, json }: Flags): Promise<void> {
  const bytes = api.results(job, { ...(outcome && { outcome }), ...(lineage && { lineage: 'all' }) });
  if (out === undefined) {
    for await (const chunk of bytes) await write(session.stdout, chunk);
    return;
  }
  const count = await saveResults(bytes, out);
  if (json) await writeJson(session.stdout, { file: out, results: count });
  else session.stderr.write(`${plural(count, 'outcome')} in ${out}\n`);
}
