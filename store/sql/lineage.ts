import { sql } from 'kysely';
import type { Outcome } from '../../model/states';
import type { ItemView, JobRecord, Lineage, LineageItem } from '../port';
import type { Database, SqlDialect } from './dialect';
import { itemViews } from './item-views';
import { toJob } from './rows';

/** The jobs that share a journal, in order of submit. */
export async function jobsOfLineage(db: Database, rootNo: number): Promise<JobRecord[]> {
  const rows = await db.selectFrom('jobs').selectAll().where('root_no', '=', rootNo).orderBy('no').execute();
  return rows.map(toJob);
}

/** Where a reading of a lineage goes on: behind item `index` of job `no`. */
interface Place {
  readonly no: number;
  readonly index: number;
}

/** The newest outcomes over a lineage. */
export function createLineageReads(dialect: SqlDialect): Pick<Lineage, 'lineage' | 'lineageItems'> {
  return {
    lineage: (job) => dialect.read((db) => jobsOfLineage(db, job.rootNo)),

    lineageItems: async (job, { after, limit, outcome }) => {
      const jobs = await dialect.read((db) => jobsOfLineage(db, job.rootNo));
      const place = after === null ? undefined : parsePlace(after);
      const current = jobs.find((one) => one.no >= (place?.no ?? 0));
      if (!current) return { items: [], next: null };
      const from = place?.no === current.no ? place.index : -1;
      const page = { after: from, limit };
      const views = await dialect.read((db) =>
        itemViews(db, current, (query) =>
          query.where('items.idx', '>', page.after).orderBy('items.idx').limit(page.limit),
        ),
      );
      const items = await newestOf(dialect, jobs, current, views, outcome);
      const last = views[views.length - 1];
      if (last && views.length === limit) return { items, next: formatPlace({ no: current.no, index: last.index }) };
      const later = jobs.find((one) => one.no > current.no);
      return { items, next: later ? formatPlace({ no: later.no, index: -1 }) : null };
    },
  };
}

function formatPlace({ no, index }: Place): string {
  return `${no}.${index + 1}`;
}

function parsePlace(text: string): Place {
  const [no, behind] = text.split('.');
  return { no: Number(no), index: Number(behind) - 1 };
}

/** For each of the items, the outcome that the last job to have it gave it; what an older job has was listed with that. */
async function newestOf(
  dialect: SqlDialect,
  jobs: readonly JobRecord[],
  current: JobRecord,
  views: readonly ItemView[],
  outcome: Outcome | undefined,
): Promise<LineageItem[]> {
  const others = jobs.filter((job) => job.no !== current.no);
  const found = new Map<string, LineageItem>();
  for (const item of views) found.set(item.id, { jobId: current.id, item });
  for (const job of others) {
    const elsewhere = await viewsById(dialect, job, [...found.keys()]);
    for (const item of elsewhere) {
      if (job.no < current.no) found.delete(item.id);
      else if (item.body !== null) found.set(item.id, { jobId: job.id, item });
    }
  }
  return [...found.values()].filter(({ item }) => item.body !== null && (!outcome || item.state === outcome));
}

function viewsById(dialect: SqlDialect, job: JobRecord, ids: readonly string[]): Promise<ItemView[]> {
  if (ids.length === 0) return Promise.resolve([]);
  const { column, from } = dialect;
  const rows = from(ids.map((id) => [id]));
  return dialect.read((db) =>
    itemViews(db, job, (query) =>
      query.where('items.id', 'in', sql<string>`(select ${column(0, 'text')} from ${rows})`).orderBy('items.idx'),
    ),
  );
}
