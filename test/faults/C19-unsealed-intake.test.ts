import { JSON_TYPE, NDJSON_TYPE, bodyOf, call, get, openRequest, post, problem } from '../../api/fixtures/http';
import {
  NOTHING,
  idleQueue,
  leftovers,
  openTestApi,
  type TestApi,
  type TestApiOptions,
} from '../../api/fixtures/test-api';
import { jobsPageSchema } from '../../api/schemas';
import { definePayload, z } from '../../contract';
import { sweep } from '../../queue/sweep/sweep';
import { until } from '../support/rig';

const HOUR_MS = 3_600_000;

/** Items that were run: each would have been paid for. */
let charged: string[];
let api: TestApi;
const paid = definePayload({
  ...{ name: 'test.paid', version: 1, vocabulary: [], input: z.unknown(), result: z.unknown() },
  run: (item, ctx) => {
    charged.push(item.id);
    ctx.meter('charges', 1, { key: 'charge' });
    return Promise.resolve({});
  },
});
async function open(options: TestApiOptions = {}): Promise<void> {
  charged = [];
  api = await openTestApi({ payloads: [paid], worker: true, ...options });
}
afterEach(() => api.stop());

const line = (id: number): string => `${JSON.stringify({ id: `i${id}`, input: {} })}\n`;
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => line(from + i)).join('');
const PATH = '/v1/jobs?capability=test.paid';
const jobs = (): Promise<unknown> => get(api.url, '/v1/jobs', jobsPageSchema);
const NO_JOBS = { jobs: [], next: null };

/** Sends half of an upload, goes away when it is stored, and waits until the API has noticed. */
async function breakOff(): Promise<void> {
  const request = openRequest(api.url, PATH, { headers: { ...NDJSON_TYPE, 'content-length': lines(0, 100).length } });
  request.write(lines(0, 50));
  // A slow upload is written as it comes.
  request.keepSending(() => '\n');
  await until(api.store, async () => (await leftovers(api)).items === 50, '50 of 100 lines are stored');
  request.destroy();
  await expect(request.answer).rejects.toThrow();
}

describe('C19: an upload that is not complete', () => {
  it.each([
    ['no items', bodyOf([], { capability: 'test.paid' }), 'no_items', 422],
    ['missing items', '{"capability":"test.paid"}', 'no_items', 422],
    ['items that are null', bodyOf(null, { capability: 'test.paid' }), 'invalid_request', 400],
    [
      'items that end half way',
      bodyOf([{ id: 'a', input: 1 }], { capability: 'test.paid' }).slice(0, -2),
      'truncated_body',
      400,
    ],
  ] as const)('C19: with %s is refused, and no job is there', async (_, body, code, status) => {
    await open();
    expect(problem(await post(api.url, body, JSON_TYPE), code).status).toBe(status);
    expect(await leftovers(api)).toEqual(NOTHING);
    expect(await jobs()).toEqual(NO_JOBS);
  });

  it('C19: NDJSON of nothing but empty lines is no job either', async () => {
    await open();
    problem(await call(api.url, PATH, { method: 'POST', headers: NDJSON_TYPE, body: '\n\n' }), 'no_items');
    expect(await jobs()).toEqual(NO_JOBS);
  });

  it('C19: of which 50 of 100 lines came before the client went away is dropped at once: no job, no run, no charge', async () => {
    await open();
    await breakOff();
    await until(api.store, async () => (await leftovers(api)).uploads.length === 0, 'the upload is dropped');
    expect(await leftovers(api)).toEqual(NOTHING);
    expect(await jobs()).toEqual(NO_JOBS);
    expect(charged).toEqual([]);
  });

  it('C19: that could not be dropped then, its API having died, is dropped by the sweep', async () => {
    let died = false;
    const wrapStore: TestApiOptions['wrapStore'] = (store) => ({
      ...store,
      dropUpload: () => {
        died = true;
        return Promise.reject(new Error('this process is dead'));
      },
    });
    await open({ wrapStore });
    await breakOff();
    await until(api.store, () => died, 'the API would have dropped it');
    expect((await leftovers(api)).items).toBe(50);
    expect(await jobs()).toEqual(NO_JOBS);

    const nothing = (): void => undefined;
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const sweepAt = (now: number): Promise<void> =>
      sweep({ store: api.store, queue: idleQueue(), now: () => now }, log);
    // It may just be slow.
    await sweepAt(Date.now());
    expect((await leftovers(api)).items).toBe(50);
    await sweepAt(Date.now() + HOUR_MS);
    expect(await leftovers(api)).toEqual(NOTHING);
    expect(charged).toEqual([]);
  });

  it('C19: and sent again, whole, is one job over all its items', async () => {
    await open();
    await breakOff();
    const answer = await call(api.url, PATH, { method: 'POST', headers: NDJSON_TYPE, body: lines(0, 100) });
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([202, { items: 100 }]);
    const { id } = JSON.parse(answer.text) as { id: string };
    await call(api.url, `/v1/jobs/${id}?wait=30`);
    expect([charged.length, new Set(charged).size]).toEqual([100, 100]);
  });
});
