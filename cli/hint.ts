export const DEFAULT_API = 'http://127.0.0.1:8080';

/** A command line that a person can copy. */
export type Hint = (command: string) => string;

/** @param api the `--api` that was given, which the copied line needs too; undefined when the default or the environment serves. */
export function createHint(api: string | undefined): Hint {
  return (command) => `itemwise ${command}${api === undefined ? '' : ` --api ${api}`}`;
}
