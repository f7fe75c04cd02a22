import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { registry } from '../payloads/registry';

const ROOT = join(__dirname, '..');
/** The runner: every room but the payloads. The demo shows one domain to a person, and is no part of it. */
const ROOMS = [
  'contract',
  'model',
  'store',
  'activities',
  'workflows',
  'queue',
  'runtime',
  'worker',
  'api',
  'testing',
  'temporal-dev',
  'cli',
];

const sources = ROOMS.flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true })
    .map((file) => join(room, String(file)))
    .filter(
      (file) =>
        file.endsWith('.ts') &&
        !file.endsWith('.test.ts') &&
        !file.includes('fixtures') &&
        !file.startsWith(join('cli', 'demo')),
    ),
).map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

const matches = (pattern: RegExp): string[] =>
  sources.flatMap(({ file, text }) => [...text.matchAll(pattern)].map((match) => `${file}: ${match[0]}`));

describe('the seam between the runner and the payloads', () => {
  it('the runner names no word of a payload', () => {
    const words = registry.list().flatMap((payload) => payload.vocabulary);
    expect(words.length).toBeGreaterThan(10);
    for (const word of words) expect(matches(new RegExp(`\\b${word}\\b`, 'gi'))).toEqual([]);
  });

  it('payload code is called in one place', () => {
    expect(matches(/payload\[handler\]/g)).toHaveLength(1);
    expect(matches(/payload\??\.(run|batches)!?\(/g)).toEqual([]);
  });

  it('the registry is imported in one place, and read in two ways', () => {
    expect(matches(/from '[./]*payloads\/registry'/g)).toHaveLength(1);
    const reads = new Set(matches(/\bregistry\.(?!ts\b)\w+/g).map((read) => read.split(': ')[1]));
    expect(reads).toEqual(new Set(['registry.get', 'registry.list']));
  });
});
