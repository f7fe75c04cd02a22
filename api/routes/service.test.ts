import { definePayload, z } from '../../contract';
import { StoreUnavailable } from '../../store';
import { scripted } from '../../test/support/payloads';
import { call, get, json } from '../fixtures/http';
import { idleQueue, openTestApi, type TestApi, type TestApiOptions } from '../fixtures/test-api';
import { deepHealthSchema, healthSchema, manifestSchema } from '../schemas';

let api: TestApi | undefined;
afterEach(() => api?.stop());
const open = async (options: TestApiOptions): Promise<string> => (api = await openTestApi(options)).url;

const OK = { status: 'ok', problems: [] };
const away = (): Promise<never> => Promise.reject(new StoreUnavailable('the disk is gone'));

describe('health', () => {
  it('is live and ready where store and queue are', async () => {
    const url = await open({});
    for (const kind of ['live', 'ready']) expect(await get(url, `/health/${kind}`, healthSchema)).toEqual(OK);
  });

  it('is live and not ready where the queue is away, with the reason', async () => {
    const url = await open({ queue: idleQueue({ ailment: () => Promise.resolve('nobody listens there') }) });
    expect(await get(url, '/health/live', healthSchema)).toEqual(OK);
    const bad = { status: 'unavailable', problems: ['the queue: nobody listens there'] };
    expect(json(await call(url, '/health/ready'), healthSchema, 503)).toEqual(bad);
    expect(json(await call(url, '/health/deep'), deepHealthSchema, 503)).toMatchObject(bad);
  });

  it('is live and not ready where the store is away, and deep health answers all the same', async () => {
    const url = await open({
      wrapStore: (store) => ({ ...store, check: away, workers: away, stuckJobs: away }),
      queue: idleQueue({ ailment: () => Promise.resolve('nobody listens there') }),
    });
    expect(await get(url, '/health/live', healthSchema)).toEqual(OK);
    const bad = {
      status: 'unavailable',
      problems: ['the store: the disk is gone', 'the queue: nobody listens there'],
    };
    expect(json(await call(url, '/health/ready'), healthSchema, 503)).toEqual(bad);
    expect(json(await call(url, '/health/deep'), deepHealthSchema, 503)).toEqual({
      ...bad,
      warnings: [],
      workers: [],
      deadLetters: null,
      stuckJobs: [],
    });
  });

  it('shows in depth the workers that are alive, with what they take', async () => {
    const url = await open({ worker: true, env: { ITEMWISE_MAX_UNITS: '7' } });
    const health = await get(url, '/health/deep', deepHealthSchema);
    expect(health.workers).toMatchObject([{ capabilities: ['test.script@1'], ceilings: { units: 7 } }]);
    expect(health).toMatchObject({ status: 'ok', warnings: [expect.stringMatching('in-process')], stuckJobs: [] });
  });

  it('warns where no worker is alive, of what ails the queue a little, and of jobs that are stuck', async () => {
    const url = await open({
      queue: idleQueue({ warnings: () => ['no search attributes'] }),
      wrapStore: (store) => ({
        ...store,
        stuckJobs: () => Promise.resolve([{ job: { id: 'job-1' }, missing: 2, items: ['a', 'b'] }] as never),
      }),
    });
    const health = await get(url, '/health/deep', deepHealthSchema);
    expect(health).toMatchObject({ ...OK, workers: [], stuckJobs: [{ id: 'job-1', missing: 2, items: ['a', 'b'] }] });
    expect(health.warnings).toEqual([
      'no search attributes',
      expect.stringMatching('no worker is alive'),
      expect.stringMatching('1 jobs are stuck'),
    ]);
  });
});

describe('the manifest', () => {
  const odd = definePayload({
    name: 'test.odd',
    version: 3,
    description: 'What JSON Schema cannot show',
    vocabulary: [],
    input: z.object({ at: z.date(), size: z.bigint().optional() }),
    params: z.object({ mode: z.enum(['fast', 'slow']).default('fast') }),
    result: z.string().transform((text) => text.length),
    run: () => Promise.resolve('one'),
  });

  it('shows every capability with its schemas, also what JSON Schema cannot show', async () => {
    const url = await open({ payloads: [scripted().payload, odd] });
    const { capabilities } = await get(url, '/v1/manifest', manifestSchema);
    expect(capabilities.map((one) => one.capability)).toEqual(['test.odd@3', 'test.script@1']);
    expect(capabilities[0]).toMatchObject({
      name: 'test.odd',
      version: 3,
      description: 'What JSON Schema cannot show',
      takes: 'items',
      input: { type: 'object', required: ['at'] },
      params: { properties: { mode: { enum: ['fast', 'slow'], default: 'fast' } } },
    });
    // What the caller may leave out is not required of it.
    expect(capabilities[0]!.params).not.toHaveProperty('required');
  });

  it('names every ceiling with its value and who set it', async () => {
    const url = await open({
      env: { ITEMWISE_MAX_ITEMS: '17', ITEMWISE_MAX_BODY_BYTES: '5000', ITEMWISE_MAX_UNITS: '3' },
    });
    const { ceilings } = await get(url, '/v1/manifest', manifestSchema);
    expect(Object.fromEntries(ceilings.map(({ scope, name, value }) => [`${scope} ${name}`, value]))).toEqual({
      'job items': 17,
      'submit body bytes': 5_000,
      'item input bytes': 1_000_000,
      'API process event streams': 1_000,
      'worker units': 3,
    });
    for (const { setBy } of ceilings) expect(setBy).not.toBe('');
  });
});
