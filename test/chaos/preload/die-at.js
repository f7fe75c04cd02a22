/**
 * Loaded before a process of the product (`node --require`): kills it at a named step of what it writes. The step is in
 * the file `die-at.json` in TEST_MARKS, which a scenario writes and which is removed before the process dies, so that it
 * dies once:
 *
 *   {"process": "api" | "worker-process", "statement": <regular expression>, "when": "before" | "after" | "committed"}
 *
 * `committed`: right after the commit of the transaction in which a statement matched.
 */
const { readFileSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const Database = require('better-sqlite3');

const file = join(process.env.TEST_MARKS, 'die-at.json');
let matched = false;

function orders() {
  try {
    const order = JSON.parse(readFileSync(file, 'utf8'));
    return process.argv.includes(order.process) ? order : undefined;
  } catch {
    return undefined;
  }
}

function die() {
  rmSync(file, { force: true });
  process.kill(process.pid, 'SIGKILL');
}

function around(sql, run) {
  const order = orders();
  if (!order) return run();
  const isIt = new RegExp(order.statement, 'i').test(sql);
  if (isIt && order.when === 'before') die();
  const result = run();
  if (isIt && order.when === 'after') die();
  if (isIt) matched = true;
  if (matched && /^commit/i.test(sql) && order.when === 'committed') die();
  if (/^(commit|rollback)/i.test(sql)) matched = false;
  return result;
}

const { prepare } = Database.prototype;
Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  for (const verb of ['run', 'all', 'get']) {
    const act = statement[verb];
    statement[verb] = (...parameters) => around(sql, () => act.apply(statement, parameters));
  }
  return statement;
};
