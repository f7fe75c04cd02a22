import type { PayloadLog } from '../../contract';
import type { Invocation } from '../invocation';
import type { WorkItem } from '../item-source';
import { lineText, plainFields } from '../safe-log';
import type { UnitRun } from '../unit-run';

/** `ctx.log`: each line goes to the worker's log, and, as long as the job's share lasts, to the job's own. */
export function createLog(unit: UnitRun, invocation: Invocation, current: () => readonly WorkItem[]): PayloadLog {
  const write = (level: 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown> = {}): void => {
    if (invocation.revoked) return;
    const items = current();
    const itemId = items.length === 1 ? items[0]!.id : undefined;
    const text = lineText(message);
    unit.log[level]({ ...plainFields(fields), item: itemId }, text);
    unit.buffer.write({ level, source: 'payload', message: text, ...(itemId !== undefined && { itemId }) });
  };
  return {
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  };
}
