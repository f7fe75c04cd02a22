import type { Command } from 'commander';
import type { Cli } from '../cli';
import { lazy } from '../lazy';

interface Flags {
  readonly data?: string;
  readonly payloads?: string;
}

export function defineWorker(program: Command, cli: Cli): void {
  program
    .command('worker')
    .description('run a worker until Ctrl-C or SIGTERM')
    .option('--data <dir>', 'folder of the database, that of the API (env: ITEMWISE_DATA, default: .itemwise)')
    .option('--payloads <path>', 'module that exports the payloads (env: ITEMWISE_PAYLOADS)')
    .addHelpText('after', '\nPrints {"working": task queue} on stdout when it takes work. Temporal: TEMPORAL_ADDRESS.')
    .action(cli.action((flags: Flags) => lazy.worker().runWorker(flags)));
}
