import type { Command } from 'commander';
import type { Cli } from '../cli';
import { lazy } from '../lazy';

interface Flags {
  readonly port?: string;
  readonly data?: string;
  readonly payloads?: string;
}

export function defineApi(program: Command, cli: Cli): void {
  program
    .command('api')
    .description('run the API until Ctrl-C or SIGTERM')
    .option('--port <port>', 'port to listen on, 0 for a free one (env: ITEMWISE_PORT, default: 8080)')
    .option('--data <dir>', 'folder of the database (env: ITEMWISE_DATA, default: .itemwise)')
    .option('--payloads <path>', 'module that exports the payloads (env: ITEMWISE_PAYLOADS)')
    .addHelpText('after', '\nPrints {"listening": url} on stdout when it listens. Temporal: TEMPORAL_ADDRESS.')
    .action(cli.action((flags: Flags) => lazy.api().runApi(flags)));
}
