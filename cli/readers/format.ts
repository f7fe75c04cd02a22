import { extname } from 'node:path';
import { readCsv } from './csv';
import { readJsonArray } from './json-array';
import { readNdjson } from './ndjson';
import type { RowReader } from './row';

export const FORMATS = ['ndjson', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

export const READERS: Readonly<Record<Format, RowReader>> = { ndjson: readNdjson, json: readJsonArray, csv: readCsv };

const BY_EXTENSION: Readonly<Record<string, Format>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
  '.csv': 'csv',
};

export function formatOfName(file: string): Format | undefined {
  return BY_EXTENSION[extname(file).toLowerCase()];
}

/** By its first character: an array, a line that is an object, else a header. */
export function sniff(beginning: string): Format {
  const first = beginning.trimStart()[0];
  if (first === '[') return 'json';
  return first === '{' ? 'ndjson' : 'csv';
}
