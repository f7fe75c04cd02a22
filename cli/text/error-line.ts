import type { ItemJson } from '../client/api';
import { printable } from '../output';

/** An item's error in one line: its code, its message, and where its input does not fit. */
export function errorLine(error: ItemJson['error']): string {
  if (!error) return '';
  const issues = error.issues?.map((issue) => `${issue.path}: ${issue.message}`).join('; ');
  return printable(`${error.code}: ${error.message}${issues ? ` (${issues})` : ''}`);
}
