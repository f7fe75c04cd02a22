import { Option, type Command } from 'commander';
import type { SubmitHead } from '../client/api';
import { FORMATS, type Format } from '../readers';
import { countFrom, json, label } from './values';

/** What `submit` and `run` share. */
export interface SubmitFlags {
  readonly capability: string;
  readonly id?: string;
  readonly format?: Format;
  readonly params?: unknown;
  readonly label?: Record<string, string>;
  readonly concurrency?: number;
  readonly maxAttempts?: number;
}

export function withSubmitOptions(command: Command): Command {
  return command
    .argument('<file>', 'NDJSON, a JSON array or CSV; - reads standard input')
    .requiredOption(
      '--capability <name>',
      'what is done with each item: name@version, or a name for its newest version',
    )
    .option('--id <field>', 'field that holds the id of an item (default: its row number, from 1)')
    .addOption(
      new Option('--format <format>', 'default: by the extension of the file, else by how it begins').choices(FORMATS),
    )
    .option('--params <json>', 'parameters of the capability, for the whole job', json)
    .option('--label <key=value>', 'a label to find the job by; may be repeated', label)
    .option('--concurrency <n>', 'items in flight at once, at most what the capability allows', countFrom(1, 1_000))
    .option('--max-attempts <n>', 'attempts of an item, at most what the capability allows', countFrom(1, 100));
}

/** Said under the options of both. */
export const FILE_HELP = `
The file is read as a stream; it may be larger than the memory.
  NDJSON  a JSON value a line: each is the input of an item. .ndjson, .jsonl
  JSON    an array, of which each element is the input of an item. .json
  CSV     the first row names the columns; each further row is an input, an object. Values stay
          text, numbers too, unless the capability converts them; an empty field is null. .csv
A line or element with exactly the keys "id" and "input" is an item already: it is taken as it
is, and --id does not apply to it.`;

export function headOf(flags: SubmitFlags): SubmitHead {
  const { capability, params, label: labels, concurrency, maxAttempts } = flags;
  const options = {
    ...(concurrency !== undefined && { concurrency }),
    ...(maxAttempts !== undefined && { maxAttempts }),
  };
  return {
    capability,
    ...(params !== undefined && { params }),
    ...(labels && { labels }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}
