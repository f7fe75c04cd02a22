/**
 * Loaded before a process of the product (`node --require`): while there is a file `store-full` in TEST_MARKS, its
 * database cannot grow (SQLITE_FULL, as on a full disk); while there is `store-readonly`, it takes no writes
 * (SQLITE_READONLY, as on a volume that went read-only). Needs no rights and works everywhere, other than a full disk.
 */
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const Database = require('better-sqlite3');

const is = (mood) => existsSync(join(process.env.TEST_MARKS, `store-${mood}`));
/** SQLite's own default. */
const MAX_PAGES = 4294967294;

const { prepare } = Database.prototype;

function settle(database) {
  // Under its present size is the same as its present size.
  prepare.call(database, `pragma max_page_count = ${is('full') ? 1 : MAX_PAGES}`).get();
  prepare.call(database, `pragma query_only = ${is('readonly') ? 1 : 0}`).run();
}

/** On a disk that is really full SQLite ends the transaction by itself, whatever its user still means to do with it. */
function rollBackIfFull(database, act) {
  try {
    return act();
  } catch (error) {
    if (error.code === 'SQLITE_FULL' && database.inTransaction) prepare.call(database, 'rollback').run();
    throw error;
  }
}

Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  for (const verb of ['run', 'all', 'get']) {
    const act = statement[verb];
    statement[verb] = (...parameters) => {
      if (/^begin/i.test(sql)) settle(this);
      return rollBackIfFull(this, () => act.apply(statement, parameters));
    };
  }
  return statement;
};
