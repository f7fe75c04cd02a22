import type { Command } from 'commander';
import type { Writable } from 'node:stream';
import { ApiClient } from './client/api';
import { EXIT, type ExitCode } from './exit-codes';
import { createHint, DEFAULT_API, type Hint } from './hint';
import type { Session } from './session';

/** The process as the commands see it. */
export interface Shell {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: NodeJS.ProcessEnv;
  /** From the first call on, Ctrl-C is the session's; before, it ends the process, and servers have their own way. */
  session(): Session;
}

/** What the commands are defined with. */
export class Cli {
  exitCode: ExitCode = EXIT.ok;

  constructor(readonly shell: Shell) {}

  /** An action whose value, if it has one, is the exit code. */
  action<A extends unknown[]>(action: (...args: A) => Promise<ExitCode | void>): (...args: A) => Promise<void> {
    return async (...args) => {
      this.exitCode = (await action(...args)) ?? EXIT.ok;
    };
  }

  /** An action of a command that talks to an API. */
  client<T>(flags: ApiFlags, work: (client: Client) => Promise<T>): Promise<T> {
    const session = this.shell.session();
    return withClient(session, flags.api, work);
  }
}

export interface Client {
  readonly session: Session;
  readonly api: ApiClient;
  readonly hint: Hint;
}

export interface ApiFlags {
  readonly api?: string;
}

export interface OutputFlags {
  readonly json?: boolean;
}

/** @param given the URL of the command line; default that of the environment, else the usual one. */
export async function withClient<T>(
  session: Session,
  given: string | undefined,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const api = new ApiClient(given ?? (session.env['ITEMWISE_API'] || DEFAULT_API), session.signal);
  try {
    return await work({ session, api, hint: createHint(given) });
  } finally {
    await api.close();
  }
}

export function withApiOption(command: Command): Command {
  return command.option('--api <url>', `URL of the API (env: ITEMWISE_API, default: ${DEFAULT_API})`);
}

export function withJsonOption(command: Command, what = 'one line of JSON on stdout'): Command {
  return command.option('--json', what);
}
