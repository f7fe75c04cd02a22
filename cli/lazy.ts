/**
 * What takes long to load, loaded by the commands that need it, so that `--help` is quick.
 *
 * `require` and not `import()`: in CommonJS output the latter follows the resolver of ES modules, which wants file
 * extensions that jest's does not know.
 */
/* eslint-disable @typescript-eslint/no-require-imports, @typescript-eslint/consistent-type-imports */
export const lazy = {
  undici: () => require('undici') as typeof import('undici'),
  eventsource: () => require('eventsource-parser') as typeof import('eventsource-parser'),
  csv: () => require('csv-parse') as typeof import('csv-parse'),
  cliProgress: () => require('cli-progress') as typeof import('cli-progress'),
  dev: () => require('./dev') as typeof import('./dev'),
  api: () => require('./processes/api') as typeof import('./processes/api'),
  worker: () => require('./processes/worker') as typeof import('./processes/worker'),
  workerProcess: () => require('./processes/worker-process') as typeof import('./processes/worker-process'),
  quarantine: () => require('./processes/quarantine-process') as typeof import('./processes/quarantine-process'),
  store: () => require('../store') as typeof import('../store'),
  local: () => require('./processes/local') as typeof import('./processes/local'),
};
