/**
 * The arrows between rooms. Each room names the rooms that it may import; everything else is an error. The picture is
 * in CONTRIBUTING.md.
 */
const ROOMS = {
  contract: [],
  // Types only: what a payload's limits are.
  model: ['contract'],
  payloads: ['contract'],
  store: ['model', 'contract'],
  activities: ['store', 'model', 'contract'],
  // Types of the activities only; what it runs is the model.
  workflows: ['model', 'activities'],
  queue: ['activities', 'store', 'model', 'contract', 'workflows'],
  runtime: ['queue', 'activities', 'store', 'model', 'contract', 'payloads', 'config'],
  worker: ['runtime', 'queue', 'activities', 'store', 'model', 'contract', 'workflows', 'config'],
  api: ['runtime', 'queue', 'store', 'model', 'contract', 'config'],
  testing: ['activities', 'store', 'model', 'contract'],
  'temporal-dev': ['queue'],
  cli: ['api', 'worker', 'runtime', 'temporal-dev', 'queue', 'store', 'model', 'contract', 'config'],
};
const EVERY_ROOM = [...Object.keys(ROOMS), 'config', 'test', 'bench'];
const NOT_A_TEST = '\\.test\\.ts$|/fixtures/';

const arrows = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `arrows-from-${room}`,
  severity: 'error',
  from: { path: `^${room}/`, pathNot: NOT_A_TEST },
  to: { path: `^(${EVERY_ROOM.filter((other) => other !== room && !allowed.includes(other)).join('|')})(/|\\.ts$)` },
}));

/** Packages by which a payload would reach around its Context. */
const PAYLOAD_NEVER = '(@temporalio|better-sqlite3|kysely|express|pino|jiti|commander|@opentelemetry)';

module.exports = {
  forbidden: [
    ...arrows,
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'deterministic',
      comment: 'no Node built-in in what must be the same on every run',
      severity: 'error',
      from: { path: '^(model|workflows)/', pathNot: NOT_A_TEST },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'workflows-see-types-of-activities',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^activities/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'payloads-keep-to-the-contract',
      severity: 'error',
      from: { path: '^payloads/', pathNot: NOT_A_TEST },
      to: { path: `node_modules/${PAYLOAD_NEVER}` },
    },
    {
      name: 'payloads-by-the-registry',
      comment: 'the registry is all that the runner imports of the payloads',
      severity: 'error',
      from: { path: '^(runtime|worker|api|cli|queue|activities|store)/', pathNot: NOT_A_TEST },
      to: { path: '^payloads/', pathNot: '^payloads/registry\\.ts$' },
    },
    {
      name: 'temporal-stays-in-its-rooms',
      severity: 'error',
      from: { pathNot: `^(workflows|worker|queue/activity|temporal-dev|test|bench)/|${NOT_A_TEST}` },
      to: { path: 'node_modules/@temporalio/' },
    },
    {
      name: 'databases-stay-in-the-store',
      severity: 'error',
      from: { pathNot: '^(store|test|bench)/' },
      to: { path: 'node_modules/(better-sqlite3|kysely)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|node_modules)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
  },
};
