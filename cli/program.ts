import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cli } from './cli';
import * as commands from './commands';
import { exitCodesHelp } from './exit-codes';

const EXAMPLES = `Examples:
  itemwise dev
  itemwise submit rows.csv --capability item.echo --watch
  itemwise run rows.ndjson --capability item.echo --local > outcomes.ndjson`;

/** The whole command line; what an action came to is left in `cli.exitCode`. Ends by throwing, never the process. */
export function createProgram(cli: Cli): Command {
  const { stdout, stderr } = cli.shell;
  const program = new Command('itemwise')
    .description('Durable jobs over many items, on Temporal.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride()
    .showHelpAfterError('(`itemwise help [command]` says what there is.)')
    .addHelpText('after', `\n${EXAMPLES}\n\n${exitCodesHelp()}\n\nITEMWISE_DEBUG=1 shows the stack of an error.`);
  program.commandsGroup('Processes:');
  for (const define of [commands.defineDev, commands.defineApi, commands.defineWorker]) define(program, cli);
  commands.defineWatched(program, cli);
  program.commandsGroup('Jobs:');
  const { defineRun, defineSubmit, defineWatch, defineJobs, defineShow, defineResults } = commands;
  for (const define of [defineRun, defineSubmit, defineWatch, defineJobs, defineShow, defineResults])
    define(program, cli);
  for (const define of [commands.defineSteering, commands.defineLog, commands.defineDelete]) define(program, cli);
  program.commandsGroup('When something is wrong:');
  for (const define of [commands.defineWhy, commands.defineRetry, commands.defineDeadLetters]) define(program, cli);
  program.commandsGroup('Help:');
  return program;
}

/** Of the package: one folder up from the sources, two from what is built. */
function version(): string {
  for (const up of ['..', join('..', '..')]) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(__dirname, up, 'package.json'), 'utf8')) as Record<
        string,
        string
      >;
      if (name === 'itemwise' && version) return version;
    } catch {
      // The other place.
    }
  }
  return 'unknown';
}
