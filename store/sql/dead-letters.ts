import { sql } from 'kysely';
import type {
  DeadLetter,
  DeadLetterDetail,
  DeadLetterFilter,
  ErrorInfo,
  Lineage,
  OutcomeBody,
  SettledItem,
} from '../port';
import type { Database, SqlDialect } from './dialect';
import { openCalls } from './journal/open-calls';

/** Notes items that the runner gave up on, beside their outcomes. An outcome that was there before stays what it is. */
export async function addDeadLetters(
  dialect: SqlDialect,
  trx: Database,
  no: number,
  settled: readonly SettledItem[],
  at: number,
): Promise<void> {
  const rows = settled.filter((item) => item.dead).map((item) => [item.index, item.body.error?.code ?? 'error']);
  if (rows.length === 0) return;
  const { column, from } = dialect;
  await sql`
    insert into dead_letters (job_no, idx, code, at)
    select o.job_no, o.idx, r.code, ${at}
    from (select ${column(0, 'integer')} as idx, ${column(1, 'text')} as code from ${from(rows)}) as r
    cross join outcomes o
    where o.job_no = ${no} and o.idx = r.idx and o.outcome = 'failed' on conflict do nothing`.execute(trx);
}

type Reads = Pick<Lineage, 'deadLetters' | 'deadLetter' | 'openDeadLetters'>;

/** The store's dead letters, as people look at them. */
export function createDeadLetters({ read }: SqlDialect): Reads {
  return {
    deadLetters: (filter) =>
      read(async (db) => {
        const rows = await narrowed(db, filter).orderBy('dead_letters.no', 'desc').limit(filter.limit).execute();
        return rows.map(toDeadLetter);
      }),

    deadLetter: (no, tenant) => read((db) => findDetail(db, no, tenant)),

    openDeadLetters: () =>
      read(async (db) => {
        const row = await db
          .selectFrom('dead_letters')
          .select(sql<number>`count(*)`.as('count'))
          .where('replayed_by', 'is', null)
          .executeTakeFirstOrThrow();
        return Number(row.count);
      }),
  };
}

function letters(db: Database, tenant: string) {
  return db
    .selectFrom('dead_letters')
    .innerJoin('jobs', 'jobs.no', 'dead_letters.job_no')
    .innerJoin('items', (join) =>
      join.onRef('items.job_no', '=', 'dead_letters.job_no').onRef('items.idx', '=', 'dead_letters.idx'),
    )
    .innerJoin('outcomes', (join) =>
      join.onRef('outcomes.job_no', '=', 'dead_letters.job_no').onRef('outcomes.idx', '=', 'dead_letters.idx'),
    )
    .where('jobs.tenant', '=', tenant)
    .select(['dead_letters.no as no', 'dead_letters.at as at', 'dead_letters.replayed_by as replayed_by'])
    .select(['jobs.id as job_id', 'jobs.capability as capability', 'items.id as item_id'])
    .select(['outcomes.attempts as attempts', 'outcomes.body as body']);
}

function narrowed(db: Database, filter: DeadLetterFilter) {
  let query = letters(db, filter.tenant);
  if (filter.jobNo !== undefined) query = query.where('dead_letters.job_no', '=', filter.jobNo);
  if (filter.capability !== undefined) query = query.where('jobs.capability', '=', filter.capability);
  if (filter.code !== undefined) query = query.where('dead_letters.code', '=', filter.code);
  if (filter.before !== undefined) query = query.where('dead_letters.no', '<', filter.before);
  if (filter.replayed !== undefined) {
    query = query.where('dead_letters.replayed_by', filter.replayed ? 'is not' : 'is', null);
  }
  return query;
}

interface LetterRow {
  readonly no: number;
  readonly at: number;
  readonly replayed_by: string | null;
  readonly job_id: string;
  readonly capability: string;
  readonly item_id: string;
  readonly attempts: number;
  readonly body: string;
}

const UNREADABLE: ErrorInfo = { code: 'error', message: 'no error was recorded' };

function toDeadLetter(row: LetterRow): DeadLetter {
  return {
    no: Number(row.no),
    jobId: row.job_id,
    capability: row.capability,
    itemId: row.item_id,
    at: Number(row.at),
    attempts: row.attempts,
    error: (JSON.parse(row.body) as OutcomeBody).error ?? UNREADABLE,
    replayedBy: row.replayed_by,
  };
}

async function findDetail(db: Database, no: number, tenant: string): Promise<DeadLetterDetail | undefined> {
  const row = await letters(db, tenant)
    .where('dead_letters.no', '=', no)
    .select(['jobs.no as job_no', 'jobs.root_no as root_no', 'jobs.params as params', 'jobs.labels as labels'])
    .select(['items.idx as idx', 'items.input as input'])
    .executeTakeFirst();
  if (!row) return undefined;
  const stretch = { no: Number(row.job_no), rootNo: Number(row.root_no), lo: row.idx, hi: row.idx + 1 };
  const calls = (await openCalls(db, stretch)).get(row.idx) ?? [];
  return {
    ...toDeadLetter(row),
    input: JSON.parse(row.input) as unknown,
    params: JSON.parse(row.params) as unknown,
    labels: JSON.parse(row.labels) as Record<string, string>,
    openCalls: calls,
  };
}
