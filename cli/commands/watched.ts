import type { Command } from 'commander';
import type { Cli } from '../cli';
import { lazy } from '../lazy';

interface Flags {
  readonly data?: string;
  readonly payloads?: string;
  readonly traces: string;
}

/** What our processes start each other with; nobody else need know. */
export function defineWatched(program: Command, cli: Cli): void {
  const define = (name: string, description: string, run: (flags: Flags) => Promise<void>): void => {
    program
      .command(name, { hidden: true })
      .description(description)
      .requiredOption('--traces <dir>', 'folder for what it leaves to the process that started it')
      .option('--data <dir>', 'see worker')
      .option('--payloads <path>', 'see worker')
      .action(cli.action(run));
  };
  define('worker-process', 'the child of `worker`', (flags) => lazy.workerProcess().runWorkerProcess(flags));
  define('quarantine-process', 'the child of that', (flags) => lazy.quarantine().runQuarantineProcess(flags));
}
