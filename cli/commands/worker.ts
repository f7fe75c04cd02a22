import type { Command } from 'commander';
import type { Cli } from '../cli';
import { lazy } from '../lazy';

interface Flags {
  readonly data?: string;
  readonly payloads?: string;
}

const HELP = `
Prints {"working": task queue, "pid": process} on stdout when it takes work. The worker is a child process: when an
item ends it, it is started again, and a line as above is printed again. Temporal: TEMPORAL_ADDRESS.`;

export function defineWorker(program: Command, cli: Cli): void {
  program
    .command('worker')
    .description('run a worker until Ctrl-C or SIGTERM')
    .option('--data <dir>', 'folder of the database, that of the API (env: ITEMWISE_DATA, default: .itemwise)')
    .option('--payloads <path>', 'module that exports the payloads (env: ITEMWISE_PAYLOADS)')
    .addHelpText('after', HELP)
    .action(cli.action((flags: Flags) => lazy.worker().superviseWorker(flags, lazy.store)));
}
