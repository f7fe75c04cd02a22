import { sql } from 'kysely';
import type { IntentWrite, JournalKey } from '../../port';
import type { Database, SqlDialect } from '../dialect';
import type { Ledger } from './ledger';

type Wait = NonNullable<IntentWrite['wait']>;

/** Counts the open waits of a kind against its ceiling, together with those that are about to be opened. */
export class Ceilings {
  private readonly open = new Map<string, number>();

  constructor(private readonly trx: Database) {}

  /** Takes a place; false when there is none left. */
  async take(wait: Wait): Promise<boolean> {
    if (wait.maxOpen === null) return true;
    const kind = JSON.stringify([wait.capability, wait.name]);
    const open = this.open.get(kind) ?? (await this.count(wait));
    const room = open < wait.maxOpen;
    this.open.set(kind, room ? open + 1 : open);
    return room;
  }

  private async count(wait: Wait): Promise<number> {
    const row = await this.trx
      .selectFrom('waits')
      .select(sql<number>`count(*)`.as('open'))
      .where('capability', '=', wait.capability)
      .where('name', '=', wait.name)
      .where('answered', '=', sql.lit(0))
      .executeTakeFirstOrThrow();
    return Number(row.open);
  }
}

/** What starts of waits came to: kept apart from the calls themselves, and brought into `waits` behind them. */
export class Starts {
  private readonly opened: { readonly key: JournalKey; readonly jobNo: number; readonly wait: Wait }[] = [];
  private readonly done: JournalKey[] = [];
  private readonly withdrawn: JournalKey[] = [];

  constructor(
    private readonly dialect: SqlDialect,
    private readonly trx: Database,
    private readonly ledger: Ledger,
  ) {}

  open(key: JournalKey, jobNo: number, wait: Wait): void {
    this.opened.push({ key, jobNo, wait });
  }

  finish(key: JournalKey): void {
    this.done.push(key);
  }

  withdraw(key: JournalKey): void {
    this.withdrawn.push(key);
  }

  async save(at: number): Promise<void> {
    await this.drop(this.withdrawn);
    // Those that were withdrawn right away were never open.
    const standing = this.opened.filter(({ key }) => this.ledger.get(key));
    await this.add(standing, at);
    await this.name(this.done);
  }

  /** A wait that is open already keeps its time; one that another name had under the ordinal is given up. */
  private async add(opened: Starts['opened'], at: number): Promise<void> {
    if (opened.length === 0) return;
    const { column, from } = this.dialect;
    const rows = opened.map(({ key, jobNo, wait }) => [
      ...[jobNo, wait.index, wait.ordinal, wait.name, wait.capability],
      this.remoteIdOf(key),
    ]);
    const [jobNo, idx] = [column(0, 'integer'), column(1, 'integer')];
    await sql`
      insert into waits (job_no, idx, ordinal, name, capability, remote_id, since, answered)
      select ${jobNo}, ${idx}, ${column(2, 'integer')}, ${column(3, 'text')}, ${column(4, 'text')},
        ${column(5, 'text')}, ${at}, 0
      from ${from(rows)}
      where not exists (select 1 from outcomes o where o.job_no = ${jobNo} and o.idx = ${idx})
      on conflict (job_no, idx, ordinal) do update set name = excluded.name, capability = excluded.capability,
        remote_id = excluded.remote_id, since = excluded.since
        where waits.answered = 0 and waits.name <> excluded.name`.execute(this.trx);
  }

  /** Writes the remote ids of starts that have succeeded. */
  private async name(done: readonly JournalKey[]): Promise<void> {
    const rows = (await this.locate(done)).map((wait) => [wait.job_no, wait.idx, wait.ordinal, wait.remote_id]);
    if (rows.length === 0) return;
    const { column, from } = this.dialect;
    await sql`
      update waits set remote_id = r.remote_id
      from (select ${column(0, 'integer')} as job_no, ${column(1, 'integer')} as idx,
        ${column(2, 'integer')} as ordinal, ${column(3, 'text')} as remote_id from ${from(rows)}) as r
      where waits.job_no = r.job_no and waits.idx = r.idx and waits.ordinal = r.ordinal`.execute(this.trx);
  }

  private async drop(withdrawn: readonly JournalKey[]): Promise<void> {
    const rows = (await this.locate(withdrawn)).map((wait) => [wait.job_no, wait.idx, wait.ordinal]);
    if (rows.length === 0) return;
    const { column, from } = this.dialect;
    await sql`
      delete from waits where (job_no, idx, ordinal) in
        (select ${column(0, 'integer')}, ${column(1, 'integer')}, ${column(2, 'integer')} from ${from(rows)})`.execute(
      this.trx,
    );
  }

  /** The open waits that starts are about, by the item's id: in every job that shares the journal. */
  private async locate(
    keys: readonly JournalKey[],
  ): Promise<{ job_no: number; idx: number; ordinal: number; remote_id: string | null }[]> {
    if (keys.length === 0) return [];
    const { column, from } = this.dialect;
    const given = keys.map((key) => [key.rootNo, key.subject.slice('i:'.length), key.call, this.remoteIdOf(key)]);
    const { rows } = await sql<{ job_no: number; idx: number; ordinal: number; remote_id: string | null }>`
      select w.job_no, w.idx, w.ordinal, k.remote_id
      from (select ${column(0, 'integer')} as root_no, ${column(1, 'text')} as id, ${column(2, 'text')} as call,
        ${column(3, 'text')} as remote_id from ${from(given)}) as k
      cross join jobs j cross join items i cross join waits w
      where j.root_no = k.root_no and i.job_no = j.no and i.id = k.id and w.job_no = i.job_no and w.idx = i.idx
        and w.answered = 0 and 'wait:' || w.name || '#' || w.ordinal = k.call`.execute(this.trx);
    return rows;
  }

  private remoteIdOf(key: JournalKey): string | null {
    const call = this.ledger.get(key);
    return call?.state === 'done' ? String(JSON.parse(call.result ?? 'null')) : null;
  }
}
