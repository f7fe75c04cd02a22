import { sql } from 'kysely';
import { decode, encode, intersect, isEmpty, subtract, union, type IndexSet } from '../../../model/index-set';
import type { Fence } from '../../port';
import type { Database, SqlDialect } from '../dialect';
import { passesFence } from '../fence';
import { endedOf } from '../reading';

/** Batches that are about to be pinned. */
export class Pins {
  private readonly pinned: { readonly fence: Fence; readonly subject: string; readonly members: IndexSet }[] = [];

  constructor(private readonly trx: Database) {}

  pin(fence: Fence, subject: string, members: IndexSet): void {
    this.pinned.push({ fence, subject, members });
  }

  async save(): Promise<void> {
    if (this.pinned.length === 0) return;
    await this.trx
      .insertInto('batches')
      .values(
        this.pinned.map(({ fence, subject, members }) => ({
          job_no: fence.jobNo,
          subject,
          members: encode(members),
          lo: members[0] ?? 0,
          hi: members[members.length - 1] ?? 0,
          owner_generation: fence.generation,
          owner_seq: fence.seq,
        })),
      )
      .onConflict((oc) => oc.doNothing())
      .execute();
  }
}

interface Batch {
  readonly subject: string;
  readonly members: IndexSet;
}

/** The batches that open items of the set keep to; those that no open unit has become this unit's. */
export async function pinnedBatches(
  dialect: SqlDialect,
  fence: Fence,
  set: IndexSet,
): Promise<{ members: IndexSet; mine: boolean }[]> {
  if (isEmpty(set)) return [];
  const batches = await dialect.read((db) => batchesOf(dialect, db, fence.jobNo, set));
  if (batches.length === 0) return [];
  const mine = await dialect.write((trx) => take(trx, fence, batches));
  return batches.map(({ subject, members }) => ({ members, mine: mine.has(subject) }));
}

async function batchesOf(dialect: SqlDialect, db: Database, no: number, set: IndexSet): Promise<Batch[]> {
  const rows = await db
    .selectFrom('batches')
    .select(['subject', 'members'])
    .where('job_no', '=', no)
    .where('hi', '>', set[0]!)
    .where('lo', '<', set[set.length - 1]!)
    .orderBy('lo')
    .orderBy('subject')
    .execute();
  const batches = rows
    .map((row) => ({ subject: row.subject, members: decode(row.members) }))
    .filter(({ members }) => !isEmpty(intersect(members, set)));
  if (batches.length === 0) return [];
  const touched = batches.map(({ members }) => intersect(members, set)).reduce(union);
  const open = subtract(touched, await endedOf(dialect, db, no, touched));
  return batches.filter(({ members }) => !isEmpty(intersect(members, open)));
}

/** Gives the unit those of the batches that no other open unit has; their subjects. */
async function take(trx: Database, fence: Fence, batches: readonly Batch[]): Promise<Set<string>> {
  if (!(await passesFence(trx, fence))) return new Set();
  const subjects = batches.map(({ subject }) => subject);
  const free = await trx
    .updateTable('batches')
    .set({ owner_generation: fence.generation, owner_seq: fence.seq })
    .where('job_no', '=', fence.jobNo)
    .where('subject', 'in', subjects)
    // Units of older generations are closed.
    .where(
      sql<boolean>`not exists (select 1 from units u
        where u.job_no = batches.job_no and u.generation = batches.owner_generation and u.seq = batches.owner_seq
          and u.closed = 0 and not (u.generation = ${fence.generation} and u.seq = ${fence.seq}))`,
    )
    .returning('subject')
    .execute();
  return new Set(free.map((row) => row.subject));
}
