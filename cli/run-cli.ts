import { CommanderError } from 'commander';
import { inspect } from 'node:util';
import { Cli, type Shell } from './cli';
import { EXIT, type ExitCode } from './exit-codes';
import { toFailure } from './failure';
import { createProgram } from './program';

/** Runs one command line and gives its exit code; an error is one line on stderr. */
export async function runCli(argv: readonly string[], shell: Shell): Promise<ExitCode> {
  const cli = new Cli(shell);
  try {
    await createProgram(cli).parseAsync(argv, { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    // Commander has said it already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { message, exitCode } = toFailure(error);
    const debug = !['', '0', undefined].includes(shell.env['ITEMWISE_DEBUG']);
    if (debug) shell.stderr.write(`${inspect(error)}\n`);
    else if (message !== '') shell.stderr.write(`itemwise: ${message}\n`);
    return exitCode;
  }
}
