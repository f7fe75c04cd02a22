import { types } from 'node:util';
import { EXIT, type ExitCode } from './exit-codes';

/** An end that was foreseen: its message is all that the person needs. */
export class CliError extends Error {
  override readonly name: string = 'CliError';

  constructor(
    message: string,
    readonly exitCode: ExitCode,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A mistake in what was given: an option, a file. */
export class UsageError extends CliError {
  override readonly name: string = 'UsageError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.usage, options);
  }
}

/** Nothing answers where the API should be, or the connection broke. */
export class Unreachable extends CliError {
  override readonly name = 'Unreachable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.unreachable, options);
  }
}

export class Interrupted extends CliError {
  override readonly name = 'Interrupted';

  /** @param message what became of the work; empty when there is nothing to say. */
  constructor(message = '') {
    super(message, EXIT.interrupted);
  }
}

/** Errors of other rooms, told by their names so that this file does not load those rooms. */
const KNOWN: Readonly<Record<string, ExitCode>> = {
  ConfigError: EXIT.usage,
  RegistryError: EXIT.usage,
  TemporalUnavailable: EXIT.unreachable,
  QueueUnavailable: EXIT.unreachable,
  TransportError: EXIT.unreachable,
};

/** What is said of an error, and the exit code it leads to. */
export function toFailure(error: unknown): { message: string; exitCode: ExitCode } {
  // Not by `instanceof`: an error of Node's own may be of another realm.
  if (!types.isNativeError(error)) return { message: String(error), exitCode: EXIT.unexpected };
  const exitCode = error instanceof CliError ? error.exitCode : (KNOWN[error.name] ?? EXIT.unexpected);
  return { message: error.message, exitCode };
}
