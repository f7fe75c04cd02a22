import { sql, type SelectQueryBuilder } from 'kysely';
import type { Outcome } from '../../model/states';
import type { ErrorInfo, ItemProgress, ItemState, ItemView, JobRecord, OutcomeBody, ParkKind } from '../port';
import type { Database } from './dialect';

function selectViews(db: Database, jobNo: number) {
  return db
    .selectFrom('items')
    .leftJoin('outcomes', (join) =>
      join.onRef('outcomes.job_no', '=', 'items.job_no').onRef('outcomes.idx', '=', 'items.idx'),
    )
    .leftJoin('parked', (join) =>
      join.onRef('parked.job_no', '=', 'items.job_no').onRef('parked.idx', '=', 'items.idx'),
    )
    .where('items.job_no', '=', jobNo)
    .select([
      'items.idx as idx',
      'items.id as id',
      'outcomes.outcome as outcome',
      'outcomes.attempts as attempts',
      'outcomes.body as body',
      'outcomes.at as at',
      'parked.kind as kind',
      'parked.due as due',
      'parked.attempts as parked_attempts',
      'parked.deferrals as deferrals',
      'parked.error as error',
    ]);
}

type ViewQuery = ReturnType<typeof selectViews>;
type ViewRow = ViewQuery extends SelectQueryBuilder<infer _DB, infer _TB, infer Row> ? Row : never;

/** Items as callers see them: outcome, parking or progress, whichever they have. */
export async function itemViews(
  db: Database,
  job: JobRecord,
  narrow: (query: ViewQuery) => ViewQuery,
): Promise<ItemView[]> {
  const rows = await narrow(selectViews(db, job.no)).execute();
  const units = await db
    .selectFrom('units')
    .select('progress')
    .where('job_no', '=', job.no)
    .where('closed', '=', sql.lit(0))
    .where('progress', 'is not', null)
    .execute();
  const progress = new Map<number, ItemProgress>();
  for (const unit of units) {
    const entries = Object.entries(JSON.parse(unit.progress ?? '{}') as Record<string, ItemProgress>);
    for (const [index, value] of entries) progress.set(Number(index), value);
  }
  const waits = await openWaits(
    db,
    job.no,
    rows.filter((row) => row.outcome === null).map((row) => row.idx),
  );
  return rows.map((row) => toView(row, progress.get(row.idx) ?? null, waits.get(row.idx) ?? null));
}

/** What the items of a page wait for. A page is one stretch of the job, so a range finds them. */
async function openWaits(
  db: Database,
  jobNo: number,
  open: readonly number[],
): Promise<Map<number, NonNullable<ItemView['wait']>>> {
  if (open.length === 0) return new Map();
  const rows = await db
    .selectFrom('waits')
    .select(['idx', 'name', 'remote_id', 'since'])
    .where('job_no', '=', jobNo)
    .where('idx', '>=', open[0]!)
    .where('idx', '<=', open[open.length - 1]!)
    .where('answered', '=', sql.lit(0))
    .execute();
  return new Map(rows.map((row) => [row.idx, { name: row.name, remoteId: row.remote_id, since: Number(row.since) }]));
}

/** Indexes of the next items with an outcome. All but the usual one have an index that tells them at once. */
export function withOutcome(db: Database, jobNo: number, outcome: Outcome, page: { after: number; limit: number }) {
  const query = db
    .selectFrom('outcomes')
    .select('idx')
    .where('job_no', '=', jobNo)
    .where('outcome', '=', outcome)
    .where('idx', '>', page.after)
    .orderBy('idx')
    .limit(page.limit);
  return outcome === 'succeeded' ? query : query.where('outcome', '<>', sql.lit('succeeded'));
}

function toView(row: ViewRow, progress: ItemProgress | null, wait: ItemView['wait']): ItemView {
  const parked =
    row.due === null || row.outcome !== null
      ? null
      : {
          kind: row.kind as ParkKind,
          due: Number(row.due),
          deferrals: row.deferrals ?? 0,
          error: row.error === null ? null : (JSON.parse(row.error) as ErrorInfo | null),
        };
  return {
    index: row.idx,
    id: row.id,
    state: stateOf(row, progress),
    attempts: row.attempts ?? row.parked_attempts ?? 0,
    body: row.body === null ? null : (JSON.parse(row.body) as OutcomeBody),
    finishedAt: row.at === null ? null : Number(row.at),
    parked,
    wait,
    progress: row.outcome === null ? progress : null,
  };
}

function stateOf(row: ViewRow, progress: ItemProgress | null): ItemState {
  if (row.outcome !== null) return row.outcome as Outcome;
  if (progress !== null) return 'running';
  if (row.kind !== null) return row.kind === 'defer' ? 'deferred' : 'waiting';
  return 'pending';
}
