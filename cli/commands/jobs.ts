import { Option, type Command } from 'commander';
import { JOB_STATES, type JobState } from '../../model/states';
import { withApiOption, withJsonOption, type ApiFlags, type Cli, type Client, type OutputFlags } from '../cli';
import type { JobJson } from '../client/api';
import { writeJson, writeLine } from '../output';
import { formatCount } from '../text/number';
import { table, type Column } from '../text/table';
import { countFrom, labelFilter } from './values';

interface Flags extends ApiFlags, OutputFlags {
  readonly state?: JobState;
  readonly capability?: string;
  readonly label?: string;
  readonly limit: number;
}

export function defineJobs(program: Command, cli: Cli): void {
  const command = program
    .command('jobs')
    .description('list jobs, the newest first')
    .addOption(new Option('--state <state>', 'only jobs in this state').choices(JOB_STATES))
    .option('--capability <name@version>', 'only jobs of this capability')
    .option('--label <key=value>', 'only jobs with this label', labelFilter)
    .option('--limit <n>', 'how many', countFrom(1, 100_000), 20);
  withJsonOption(withApiOption(command), 'one line of JSON on stdout: {"jobs": [...], "next": cursor or null}').action(
    cli.action((flags: Flags) => cli.client(flags, (client) => jobs(client, flags))),
  );
}

const COLUMNS: readonly Column<JobJson>[] = [
  { title: 'JOB', value: (job) => job.id },
  { title: 'CAPABILITY', value: (job) => job.capability },
  { title: 'STATE', value: (job) => job.state },
  { title: 'ITEMS', value: (job) => formatCount(job.items), right: true },
  { title: 'OK', value: (job) => formatCount(job.counts.succeeded), right: true },
  { title: 'REVIEW', value: (job) => formatCount(job.counts.needs_review), right: true },
  { title: 'FAILED', value: (job) => formatCount(job.counts.failed), right: true },
  { title: 'SKIPPED', value: (job) => formatCount(job.counts.skipped), right: true },
  { title: 'CREATED', value: (job) => job.createdAt.replace('T', ' ').replace(/\.\d+Z$/, 'Z') },
  { title: 'LABELS', value: (job) => labels(job), max: 60 },
];

async function jobs({ api, session }: Client, { state, capability, label, limit, json }: Flags): Promise<void> {
  const page = await api.jobs({ state, capability, label }, limit);
  if (json) return writeJson(session.stdout, page);
  if (page.jobs.length === 0) return writeLine(session.stdout, 'there are no such jobs');
  await writeLine(session.stdout, table(COLUMNS, page.jobs));
  if (page.next !== null) session.stderr.write(`there are more than ${limit}: --limit shows more\n`);
}

function labels(job: JobJson): string {
  return Object.entries(job.labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}
