import { setImmediate as turn } from 'node:timers/promises';
import BetterSqlite from 'better-sqlite3';
import { CompiledQuery, Kysely, SqliteDialect, SqliteDriver, sql, type DatabaseConnection, type Driver } from 'kysely';
import { StoreUnavailable } from '../errors';
import type { Database, SqlDialect } from '../sql/dialect';
import type { Schema } from '../sql/schema';

export interface SqliteOptions {
  /** The file; `:memory:` for a store that ends with the process. */
  file: string;
  /** How long a write waits for the lock of another process before StoreUnavailable, ms. */
  patienceMs: number;
  now: () => number;
  sleep: (ms: number) => Promise<void>;
}

/**
 * How long SQLite itself waits for a lock. It blocks the event loop, and with it heartbeats, so it is short and the
 * rest of the wait is asynchronous.
 */
const BUSY_WAIT_MS = 50;
const RETRY_MS = 20;

/** How often another process's writes are looked for, ms. Reading the counter takes microseconds. */
const WATCH_MS = 25;

/** Writers take the lock when they begin: a transaction that began by reading could not wait for it. */
class ImmediateDriver extends SqliteDriver {
  constructor(private readonly sqlite: BetterSqlite.Database) {
    super({ database: sqlite });
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** Of a full disk and its like SQLite rolls back by itself: to do so again would throw, and hide why. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.sqlite.inTransaction) await super.rollbackTransaction(connection);
  }
}

class ImmediateDialect extends SqliteDialect {
  constructor(private readonly database: BetterSqlite.Database) {
    super({ database });
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.database);
  }
}

/** Told by its code alone: the binding makes its errors in the realm that loaded it first, which may not be this one. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** The codes with which SQLite says that it cannot work now: a full disk, an unreadable file, a lost volume. */
function isAway(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|NOTADB|CORRUPT)/.test(codeOf(error));
}

/**
 * Opens the file with write-ahead log and full synchronisation: what was committed survives a power cut.
 * SQLite works within the call, so the event loop gets a turn after each read and write: heartbeats are never behind
 * a loop of them.
 * @throws StoreUnavailable when the file cannot be opened.
 */
export function openSqlite(options: SqliteOptions): SqlDialect {
  const sqlite = openFile(options.file);
  const db: Database = new Kysely<Schema>({ dialect: new ImmediateDialect(sqlite) });
  const attempt = <T>(work: () => Promise<T>): Promise<T> => patiently(options, work);
  const watch = watcher(sqlite);
  return {
    db,
    serial: 'integer',
    clustered: 'without rowid',
    from: (rows) => sql`json_each(${JSON.stringify(rows)})`,
    column: (position) => sql.raw(`value ->> ${position}`),
    ranges: (set) => {
      const pairs: [number, number][] = [];
      for (let i = 0; i < set.length; i += 2) pairs.push([set[i]!, set[i + 1]!]);
      return sql`(select value ->> 0 as lo, value ->> 1 as hi from json_each(${JSON.stringify(pairs)})) as s`;
    },
    bytes: (column) => sql<number>`octet_length(${sql.ref(column)})`,
    write: async (work) => {
      const result = await attempt(() => db.transaction().execute(work));
      watch.changed();
      await turn();
      return result;
    },
    read: async (work) => {
      const result = await attempt(() => work(db));
      await turn();
      return result;
    },
    onChange: (listener) => watch.add(listener),
    close: async () => {
      watch.stop();
      await db.destroy();
    },
  };
}

function openFile(file: string): BetterSqlite.Database {
  let sqlite: BetterSqlite.Database | undefined;
  try {
    sqlite = new BetterSqlite(file, { timeout: BUSY_WAIT_MS });
    setPragmas(sqlite);
    return sqlite;
  } catch (error) {
    sqlite?.close();
    throw new StoreUnavailable(`cannot open the database file: ${String(error)}`, { cause: error });
  }
}

function setPragmas(sqlite: BetterSqlite.Database): void {
  // Several processes may start at once, and the switch to WAL needs the file alone for a moment.
  sqlite.pragma('busy_timeout = 5000');
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma(`busy_timeout = ${BUSY_WAIT_MS}`);
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('cache_size = -32000');
}

async function patiently<T>(options: SqliteOptions, work: () => Promise<T>): Promise<T> {
  const until = options.now() + options.patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isAway(error)) throw new StoreUnavailable(`the database cannot be used: ${String(error)}`, { cause: error });
      if (!isLocked(error)) throw error;
      if (options.now() >= until) {
        throw new StoreUnavailable(`the database stayed locked for ${options.patienceMs} ms`, { cause: error });
      }
      await options.sleep(RETRY_MS);
    }
  }
}

/** Tells listeners of writes: of this process's own at once, of others' by SQLite's data_version. */
function watcher(sqlite: BetterSqlite.Database): {
  add(listener: () => void): () => void;
  changed(): void;
  stop(): void;
} {
  const listeners = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let version: unknown;
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const look = (): void => {
    const current = versionOf(sqlite);
    if (current !== version) tell();
    version = current;
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    listeners.clear();
  };
  return {
    add: (listener) => {
      listeners.add(listener);
      version ??= versionOf(sqlite);
      timer ??= setInterval(look, WATCH_MS).unref();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) stop();
      };
    },
    changed: tell,
    stop,
  };
}

/** Changes with every write of another connection; undefined while the file cannot be read, which users will notice. */
function versionOf(sqlite: BetterSqlite.Database): unknown {
  try {
    return sqlite.pragma('data_version', { simple: true });
  } catch {
    return undefined;
  }
}
