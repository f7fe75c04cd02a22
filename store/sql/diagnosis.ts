import { sql } from 'kysely';
import type { ParkKind } from '../../model/attempts';
import { STUCK_ROUNDS } from '../../model/pace';
import type { Diagnose, Diagnosis, JobRecord, ParkedReason, RunningItem, SlowItem, StuckJob } from '../port';
import type { Database, SqlDialect } from './dialect';
import { toJob } from './rows';
import { findOpen } from './scan';

/** Units, items, reasons that a diagnosis names. */
const UNITS = 200;
const SLOWEST = 5;
const REASONS = 10;

/** Parked items that are looked at for their reasons: those that are due next. */
const LOOKED_AT = 2_000;

/** Ids of missing items that are named. */
const MISSING = 10;

/** As much of an error as has its code and the beginning of its message, which are its first fields. */
const HEAD_CHARS = 250;

/** Reads that say what jobs wait for. */
export function createDiagnose(dialect: SqlDialect): Diagnose {
  const { read } = dialect;
  return {
    diagnose: async (job) => {
      const units = await read((db) => openUnits(db, job.no));
      return {
        stateSince: await read((db) => stateSince(db, job)),
        units: units.map(({ worker, items, running, openedAt }) => ({ worker, items, running, openedAt })),
        slowest: await read((db) => nameSlowest(db, job.no, units)),
        parked: await read((db) => parkedReasons(db, job.no)),
      };
    },
    stuckJobs: (limit) => findStuck(dialect, limit),
  };
}

async function stateSince(db: Database, job: JobRecord): Promise<number> {
  const row = await db
    .selectFrom('job_log')
    .select('at')
    .where('job_no', '=', job.no)
    .where('state', 'is not', null)
    .orderBy('no', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? Number(row.at) : job.createdAt;
}

type Unit = Diagnosis['units'][number] & { readonly slowest: readonly SlowItem[] };

async function openUnits(db: Database, no: number): Promise<Unit[]> {
  const rows = await db
    .selectFrom('units')
    .select(['worker', 'size', 'running', 'opened_at', 'slowest'])
    .where('job_no', '=', no)
    .where('closed', '=', sql.lit(0))
    .orderBy('opened_at')
    .limit(UNITS)
    .execute();
  return rows.map((row) => ({
    worker: row.worker,
    items: row.size,
    running: row.running,
    openedAt: Number(row.opened_at),
    slowest: JSON.parse(row.slowest ?? '[]') as SlowItem[],
  }));
}

async function nameSlowest(db: Database, no: number, units: readonly Unit[]): Promise<RunningItem[]> {
  const slow = units
    .flatMap(({ worker, slowest }) => slowest.map((item) => ({ ...item, worker })))
    .sort((a, b) => a.startedAt - b.startedAt)
    .slice(0, SLOWEST);
  if (slow.length === 0) return [];
  const rows = await db
    .selectFrom('items')
    .select(['idx', 'id'])
    .where('job_no', '=', no)
    .where(
      'idx',
      'in',
      slow.map((item) => item.index),
    )
    .execute();
  const ids = new Map(rows.map((row) => [row.idx, row.id]));
  return slow.map(({ index, startedAt, worker }) => ({ itemId: ids.get(index) ?? String(index), startedAt, worker }));
}

async function parkedReasons(db: Database, no: number): Promise<Diagnosis['parked']> {
  const { total } = await db
    .selectFrom('parked')
    .select(sql<number>`count(*)`.as('total'))
    .where('job_no', '=', no)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('parked')
    .select(['kind', 'due', sql<string>`substr(error, 1, ${sql.lit(HEAD_CHARS)})`.as('head')])
    .where('job_no', '=', no)
    .orderBy('due')
    .orderBy('idx')
    .limit(LOOKED_AT)
    .execute();
  const reasons = new Map<string, ParkedReason>();
  for (const { kind, due, head } of rows) {
    const [, code = '', message = ''] = HEAD.exec(head) ?? [];
    const known = reasons.get(`${kind}:${code}`);
    // The first is the one that is due first.
    const first = { kind: kind as ParkKind, code, message: unescape(message), count: 0, due: Number(due) };
    reasons.set(`${kind}:${code}`, { ...(known ?? first), count: (known?.count ?? 0) + 1 });
  }
  return {
    total: Number(total),
    nextDue: rows[0] ? Number(rows[0].due) : null,
    reasons: [...reasons.values()].sort((a, b) => b.count - a.count).slice(0, REASONS),
    lookedAt: rows.length,
  };
}

/** The beginning of an error in JSON; its message may be cut. */
const HEAD = /^\{"code":"([^"]*)"(?:,"message":"((?:[^"\\]|\\.)*))?/;

function unescape(text: string): string {
  return JSON.parse(`"${text.replace(/\\u[0-9a-f]{0,3}$/i, '')}"`) as string;
}

async function findStuck(dialect: SqlDialect, limit: number): Promise<StuckJob[]> {
  const rows = await dialect.read((db) =>
    db
      .selectFrom('jobs')
      .selectAll()
      .where('finished_at', 'is', null)
      .where('finalize_rounds', '>=', STUCK_ROUNDS)
      .orderBy('touched_at')
      .limit(limit)
      .execute(),
  );
  const stuck: StuckJob[] = [];
  for (const job of rows.map(toJob)) {
    const open = await findOpen(dialect, job.no, job.items, { dueBy: Number.MAX_SAFE_INTEGER, limit: MISSING });
    const ended = Object.values(job.outcomes).reduce((sum, count) => sum + count, 0);
    stuck.push({ job, missing: job.items - ended, items: await idsOf(dialect, job.no, open) });
  }
  return stuck;
}

async function idsOf({ read }: SqlDialect, no: number, indexes: readonly number[]): Promise<string[]> {
  if (indexes.length === 0) return [];
  const rows = await read((db) =>
    db
      .selectFrom('items')
      .select('id')
      .where('job_no', '=', no)
      .where('idx', 'in', [...indexes])
      .orderBy('idx')
      .execute(),
  );
  return rows.map((row) => row.id);
}
