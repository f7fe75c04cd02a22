import type { JobState } from '../../model/states';
import type { LogLine, LogPage, NewLogLine } from '../port';
import { printable } from '../text';
import type { Database } from './dialect';

/** Longest log line, characters. */
const MAX_LOG_MESSAGE = 4_000;

/** The line of a state that a job has reached. */
export function became(state: JobState, message: string): NewLogLine {
  return { level: 'info', source: 'runner', message, state };
}

/** Adds lines to a job's log, cut to what a person would read. */
export async function addLogLines(trx: Database, no: number, at: number, lines: readonly NewLogLine[]): Promise<void> {
  if (lines.length === 0) return;
  await trx
    .insertInto('job_log')
    .values(
      lines.map((line) => ({
        job_no: no,
        at,
        level: line.level,
        source: line.source,
        message: printable(line.message).slice(0, MAX_LOG_MESSAGE),
        item_id: line.itemId ?? null,
        state: line.state ?? null,
      })),
    )
    .execute();
}

/** Lines of a job's log behind `after`, oldest first. */
export async function readLog(db: Database, no: number, page: LogPage): Promise<LogLine[]> {
  let query = db.selectFrom('job_log').selectAll().where('job_no', '=', no).where('no', '>', page.after);
  if (page.level) query = query.where('level', '=', page.level);
  if (page.source) query = query.where('source', '=', page.source);
  if (page.states) query = query.where('state', 'is not', null);
  const rows = await query.orderBy('no').limit(page.limit).execute();
  return rows.map((row) => ({
    no: Number(row.no),
    at: Number(row.at),
    level: row.level as LogLine['level'],
    source: row.source as LogLine['source'],
    message: row.message,
    itemId: row.item_id,
    state: row.state as JobState | null,
  }));
}
