import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';

const FILE_NAME = 'temporal.db';

/**
 * The database file that `persistTo` means: the file `temporal.db` in a folder, or the file itself. What does not
 * exist yet is a file when its name has an extension, as `dev/runs.db`, else a folder, as `.itemwise`.
 */
export async function databaseFile(persistTo: string): Promise<string> {
  const stats = await stat(persistTo).catch(() => undefined);
  const isFolder = stats === undefined ? /[/\\]$/.test(persistTo) || extname(persistTo) === '' : stats.isDirectory();
  return isFolder ? join(persistTo, FILE_NAME) : persistTo;
}
