import { taskQueueName } from './names';

describe('the name of a task queue', () => {
  const STORES = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] as const;

  it('is another one for each environment, each store and each pool: two deployments never meet on one', () => {
    const names = ['dev', 'production'].flatMap((environment) =>
      STORES.flatMap((store) => ['default', 'slow'].map((pool) => taskQueueName(environment, store, pool))),
    );
    expect(new Set(names).size).toBe(8);
    for (const name of names) expect(name).toMatch(/^itemwise-/);
  });

  it('is the same for the same', () => {
    expect(taskQueueName('dev', STORES[0], 'default')).toBe(taskQueueName('dev', STORES[0], 'default'));
  });
});
