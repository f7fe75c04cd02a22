import { sql } from 'kysely';
import { PARK_KINDS, type ParkKind } from '../../model/attempts';
import type { ParkedGauge } from '../port';
import type { Database, SqlDialect } from './dialect';

/** Up to so many parked items are all looked at. Of more, about SAMPLE: a pass over 300,000 takes a fifth of a second. */
const EXACT = 4_000;
const SAMPLE = 2_000;

/** A sample is made of blocks of about so many neighbours: a few places are found quicker than many. */
const BLOCK = 10;

/** Most jobs that a sample is taken from. */
const MAX_JOBS = 200;

/** Most codes of a kind that are told apart; the rest is `other`. Payloads may make up as many as they like. */
const MAX_CODES = 30;

/** As much of an error as has its code, which is its first field and at most 64 characters. */
const HEAD_CHARS = 100;

/** Why items are parked. The sum is exact; of many items the parts are those of a sample. */
export async function parkedReasons({ read, ...dialect }: SqlDialect): Promise<ParkedGauge[]> {
  const total = await read(countParked);
  if (total === 0) return [];
  const heads =
    total <= EXACT
      ? await read(readHeads)
      : await read(async (db) => sampleHeads(dialect, db, blocksOf(await findSpans(db), total)));
  return share(total, heads);
}

async function countParked(db: Database): Promise<number> {
  const row = await db
    .selectFrom('parked')
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Of a parked item, the kind and the beginning of its error. */
interface Head {
  readonly kind: ParkKind;
  readonly head: string;
}

async function readHeads(db: Database): Promise<Head[]> {
  const rows = await db
    .selectFrom('parked')
    .select(['kind', sql<string>`substr(error, 1, ${sql.lit(HEAD_CHARS)})`.as('head')])
    .execute();
  return rows as Head[];
}

/** Between which indexes the parked items of a job lie. */
interface Span {
  readonly no: number;
  readonly lo: number;
  readonly hi: number;
}

async function findSpans(db: Database): Promise<Span[]> {
  const { rows } = await sql<{ no: number | string; lo: number | null; hi: number | null }>`
    select j.no,
      (select min(idx) from parked where job_no = j.no) as lo,
      (select max(idx) from parked where job_no = j.no) as hi
    from jobs j
    where j.finished_at is null and exists (select 1 from parked p where p.job_no = j.no)
    limit ${sql.lit(MAX_JOBS)}`.execute(db);
  return rows.flatMap(({ no, lo, hi }) => (lo === null || hi === null ? [] : [{ no: Number(no), lo, hi: hi + 1 }]));
}

/** From 0 to 1, another one for each number: blocks at equal distances would fall in with an input that repeats itself. */
function spread(at: number): number {
  return (Math.imul(at + 1, 0x9e3779b1) >>> 0) / 2 ** 32;
}

/** Ranges `[job, lo, hi]` that hold about SAMPLE of `total` items, the same part of every job, spread evenly. */
function blocksOf(spans: readonly Span[], total: number): [number, number, number][] {
  const space = spans.reduce((sum, { lo, hi }) => sum + hi - lo, 0);
  const width = Math.max(1, Math.ceil((BLOCK * space) / total));
  return spans.flatMap(({ no, lo, hi }) => {
    const blocks = Math.max(1, Math.round(((SAMPLE / BLOCK) * (hi - lo)) / space));
    const step = (hi - lo) / blocks;
    return Array.from({ length: blocks }, (_, at): [number, number, number] => {
      const from = lo + Math.floor(at * step + spread(at) * Math.max(0, step - width));
      return [no, from, Math.min(from + width, hi)];
    });
  });
}

async function sampleHeads(
  { from, column }: Pick<SqlDialect, 'from' | 'column'>,
  db: Database,
  blocks: readonly (readonly number[])[],
): Promise<Head[]> {
  const { rows } = await sql<Head>`
    select p.kind, substr(p.error, 1, ${sql.lit(HEAD_CHARS)}) as head
    from (select ${column(0, 'integer')} as job, ${column(1, 'integer')} as lo, ${column(2, 'integer')} as hi
      from ${from(blocks)}) as s
    cross join parked p where p.job_no = s.job and p.idx >= s.lo and p.idx < s.hi
    limit ${sql.lit(EXACT)}`.execute(db);
  return rows;
}

/** Parts the total as the heads are parted. */
function share(total: number, heads: readonly Head[]): ParkedGauge[] {
  const parts = PARK_KINDS.flatMap((kind) => {
    const codes = new Map<string, number>();
    for (const { head } of heads.filter((one) => one.kind === kind)) {
      const known = /^\{"code":"([\w.:-]*)"/.exec(head)?.[1] ?? '';
      const code = codes.has(known) || codes.size < MAX_CODES ? known : 'other';
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    return [...codes].map(([code, count]) => ({ kind, code, count }));
  });
  let left = total;
  return parts.map((part, at) => {
    // The last one takes what rounding left, so that the sum is right.
    const count = at === parts.length - 1 ? left : Math.min(left, Math.round((total * part.count) / heads.length));
    left -= count;
    return { ...part, count };
  });
}
