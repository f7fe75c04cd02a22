import { sql } from 'kysely';
import type { IntentWrite, JournalEntry, JournalKey } from '../../port';
import type { Database, SqlDialect } from '../dialect';

/** A row of the journal. */
export interface Call {
  readonly jobNo: number;
  readonly kind: IntentWrite['kind'];
  readonly vendor: string | null;
  readonly key: string;
  readonly token: string;
  readonly argsHash: string | null;
  readonly state: JournalEntry['state'];
  /** JSON. */
  readonly result: string | null;
  readonly remoteId: string | null;
  readonly intentAt: number;
  readonly doneAt: number | null;
}

interface CallRow {
  root_no: number;
  subject: string;
  call: string;
  job_no: number;
  kind: IntentWrite['kind'];
  vendor: string | null;
  key: string;
  token: string;
  args_hash: string | null;
  state: JournalEntry['state'];
  result: string | null;
  remote_id: string | null;
  intent_at: number;
  done_at: number | null;
}

export function toEntry(call: Call): JournalEntry {
  const { state, argsHash, remoteId } = call;
  const result = state === 'done' ? (JSON.parse(call.result ?? 'null') as unknown) : undefined;
  return { state, result, argsHash, remoteId };
}

/** The rows that some writes are about: read at once, changed in memory in the order of the writes, written at once. */
export class Ledger {
  private readonly calls = new Map<string, Call>();
  private readonly changed = new Map<string, JournalKey>();

  private constructor(
    private readonly dialect: SqlDialect,
    private readonly trx: Database,
  ) {}

  static async load(dialect: SqlDialect, trx: Database, keys: readonly JournalKey[]): Promise<Ledger> {
    const ledger = new Ledger(dialect, trx);
    const { rows } = await sql<CallRow>`
      select j.* from ${keyRows(dialect, keys)} cross join journal j
      where j.root_no = k.root_no and j.subject = k.subject and j.call = k.call`.execute(trx);
    for (const row of rows) ledger.calls.set(nameOf(fromRow(row)), toCall(row));
    return ledger;
  }

  get(key: JournalKey): Call | undefined {
    return this.calls.get(nameOf(key));
  }

  set(key: JournalKey, call: Call): void {
    this.calls.set(nameOf(key), call);
    this.changed.set(nameOf(key), key);
  }

  delete(key: JournalKey): void {
    this.calls.delete(nameOf(key));
    this.changed.set(nameOf(key), key);
  }

  async save(): Promise<void> {
    const keys = [...this.changed.values()];
    await this.remove(keys.filter((key) => !this.get(key)));
    await this.upsert(keys.flatMap((key) => toRow(key, this.get(key))));
    this.changed.clear();
  }

  private async remove(keys: readonly JournalKey[]): Promise<void> {
    if (keys.length === 0) return;
    await sql`
      delete from journal where (root_no, subject, call) in
        (select k.root_no, k.subject, k.call from ${keyRows(this.dialect, keys)})`.execute(this.trx);
  }

  private async upsert(rows: readonly unknown[][]): Promise<void> {
    if (rows.length === 0) return;
    const { column, from } = this.dialect;
    await sql`
      insert into journal (root_no, subject, call, job_no, kind, vendor, key, token, args_hash, state, result,
        remote_id, intent_at, done_at)
      select ${column(0, 'integer')}, ${column(1, 'text')}, ${column(2, 'text')}, ${column(3, 'integer')},
        ${column(4, 'text')}, ${column(5, 'text')}, ${column(6, 'text')}, ${column(7, 'text')}, ${column(8, 'text')},
        ${column(9, 'text')}, ${column(10, 'text')}, ${column(11, 'text')}, ${column(12, 'integer')},
        ${column(13, 'integer')}
      from ${from(rows)} where true
      on conflict (root_no, subject, call) do update set token = excluded.token, state = excluded.state,
        result = excluded.result, remote_id = excluded.remote_id, intent_at = excluded.intent_at,
        done_at = excluded.done_at`.execute(this.trx);
  }
}

/** The keys as a row source `k`. */
function keyRows({ column, from }: SqlDialect, keys: readonly JournalKey[]) {
  const rows = from(keys.map((key) => [key.rootNo, key.subject, key.call]));
  return sql`(select ${column(0, 'integer')} as root_no, ${column(1, 'text')} as subject,
    ${column(2, 'text')} as call from ${rows}) as k`;
}

function nameOf(key: JournalKey): string {
  return JSON.stringify([key.rootNo, key.subject, key.call]);
}

function fromRow(row: CallRow): JournalKey {
  return { rootNo: Number(row.root_no), subject: row.subject, call: row.call };
}

function toCall(row: CallRow): Call {
  const { kind, vendor, key, token, state, result } = row;
  return {
    jobNo: Number(row.job_no),
    ...{ kind, vendor, key, token, state, result },
    argsHash: row.args_hash,
    remoteId: row.remote_id,
    intentAt: Number(row.intent_at),
    doneAt: row.done_at === null ? null : Number(row.done_at),
  };
}

function toRow(key: JournalKey, call: Call | undefined): unknown[][] {
  if (!call) return [];
  const { jobNo, kind, vendor, token, argsHash, state, result, remoteId, intentAt, doneAt } = call;
  const place = [key.rootNo, key.subject, key.call];
  return [[...place, jobNo, kind, vendor, call.key, token, argsHash, state, result, remoteId, intentAt, doneAt]];
}
