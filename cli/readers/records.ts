import { UsageError } from '../failure';
import type { Row } from './row';

/** An item as it is submitted. */
export interface NewItem {
  readonly id: string;
  readonly input: unknown;
}

/**
 * Gives each row its id: the field `idField`, else its number, counted from 1. A row with exactly the keys `id` and
 * `input` is an item already and taken as it is.
 */
export async function* toItems(rows: AsyncIterable<Row>, idField: string | undefined): AsyncGenerator<NewItem> {
  let no = 0;
  for await (const { value, line } of rows) {
    no++;
    const where = `row ${no} (line ${line})`;
    if (isItem(value)) yield { id: idOf(value.id, 'id', where), input: value.input };
    else if (idField === undefined) yield { id: String(no), input: value };
    else yield { id: idOf(fieldOf(value, idField), idField, where), input: value };
  }
  if (no === 0) throw new UsageError('there is nothing in it');
}

function isItem(value: unknown): value is { id: unknown; input: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).length === 2 && Object.hasOwn(value, 'id') && Object.hasOwn(value, 'input');
}

function fieldOf(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined;
  return (value as Record<string, unknown>)[field];
}

function idOf(value: unknown, field: string, where: string): string {
  const name = JSON.stringify(field);
  if (value === undefined) throw new UsageError(`${where} has no field ${name} to take its id from`);
  if (value === null || value === '') throw new UsageError(`${where}: the field ${name}, its id, is empty`);
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw new UsageError(`${where}: the field ${name}, its id, is not a text or a number`);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    // JSON numbers lose their last digits here, and two ids could become one.
    throw new UsageError(`${where}: the field ${name}, its id, is too large for a number: write it as a text`);
  }
  return String(value);
}
