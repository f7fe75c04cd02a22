import { deadLettersPageSchema, deadLetterDetailSchema } from '../../api/lineage-schemas';
import { call, ended, get, submit } from '../../api/fixtures/http';
import { openTestApi, type TestApi } from '../../api/fixtures/test-api';
import { itemViewSchema, itemsPageSchema, logPageSchema, type ItemJson } from '../../api/schemas';
import { definePayload, defineWait, z, type Checked, type Payload } from '../../contract';
import { THROWN, hugeError, untouchable } from '../support/thrown';

jest.setTimeout(60_000);

/** Most that an error takes wherever it is shown, characters of JSON. */
const BOUND = 13_000;

/** Longest line that the worker may write to its own log, characters. */
const LINE = 20_000;

const base = { version: 1, vocabulary: [], input: z.unknown(), result: z.unknown() };
const throwIt = (error: unknown): never => {
  throw error;
};

let api: TestApi;
afterEach(() => api.stop());

/** Runs one item a shape of error; the items as they are shown. */
async function run(payload: Payload, ids: readonly string[]): Promise<{ job: string; items: ItemJson[] }> {
  api = await openTestApi({ payloads: [payload], worker: true });
  const items = ids.map((id) => ({ id, input: 1 }));
  const { id } = await submit(api.url, items, { capability: payload.capability });
  await ended(api.url, id);
  return { job: id, items: (await get(api.url, `/v1/jobs/${id}/items?limit=1000`, itemsPageSchema)).items };
}

const longestLine = (): number => Math.max(...api.log.map((line) => line.length));

describe('C09: an error without bounds', () => {
  it('C09: is cut wherever it is shown, its code kept: in the item, the results, the dead letter and the logs', async () => {
    const thrower = definePayload({
      ...{ ...base, name: 'test.thrower', limits: { maxAttempts: 2, backoff: { initial: '1ms' } } },
      run: (item, ctx) => {
        ctx.log.error('m'.repeat(5_000_000), { odd: THROWN[item.id]!(), long: 'x'.repeat(5_000_000) });
        return throwIt(THROWN[item.id]!());
      },
    });
    const { job, items } = await run(thrower, Object.keys(THROWN));
    for (const item of items) {
      expect(item).toMatchObject({
        state: 'failed',
        attempts: 2,
        error: { code: expect.stringMatching(/^(error|kept)$/) },
      });
      expect(item.error!.message.length).toBeGreaterThan(0);
      expect([item.id, JSON.stringify(item).length < BOUND]).toEqual([item.id, true]);
    }
    expect(items.find(({ id }) => id === 'a message of 5 MB')!.error!.code).toBe('kept');

    const { deadLetters } = await get(api.url, '/v1/dead-letters?limit=100', deadLettersPageSchema);
    expect(deadLetters.map(({ item }) => item).sort()).toEqual(Object.keys(THROWN).sort());
    for (const { id, item } of deadLetters) {
      const letter = await get(api.url, `/v1/dead-letters/${id}`, deadLetterDetailSchema);
      expect(letter.error).toEqual(items.find((one) => one.id === item)!.error);
      expect(JSON.stringify(letter).length).toBeLessThan(BOUND);
    }
    const { text } = await call(api.url, `/v1/jobs/${job}/results`);
    expect(text.length).toBeLessThan(items.length * BOUND);
    const log = await get(api.url, `/v1/jobs/${job}/log?limit=1000`, logPageSchema);
    for (const line of log.lines) expect(line.message.length).toBeLessThanOrEqual(4_000);
    expect(longestLine()).toBeLessThan(LINE);
  });

  it('C09: thrown from a hook neither holds up its item nor reaches the log uncut', async () => {
    const hooked = definePayload({
      ...{ ...base, name: 'test.hooks' },
      run: (item, ctx) => {
        for (const thrown of [hugeError, untouchable, () => undefined]) ctx.cleanup(() => throwIt(thrown()));
        return item.id;
      },
    });
    const { items } = await run(hooked, ['a', 'b']);
    expect(items).toMatchObject([{ state: 'succeeded', attempts: 1 }, { state: 'succeeded' }]);
    expect(api.log.filter((line) => line.includes('a hook of the payload failed'))).toHaveLength(6);
    expect(longestLine()).toBeLessThan(LINE);
  });
});

describe('C09: a check of a vendor that goes wrong', () => {
  /** What a check does for an item, and the code that the item ends with. */
  const CHECKS: Readonly<Record<string, [code: string, check: () => unknown]>> = {
    'throws 5 MB': ['wait_check_failed', () => throwIt(hugeError())],
    'throws what cannot be read': ['wait_check_failed', () => throwIt(untouchable())],
    'has expired with a reason of 5 MB': ['wait_expired', () => ({ state: 'expired', reason: 'r'.repeat(5_000_000) })],
    'has expired with a reason that is no text': ['wait_expired', () => ({ state: 'expired', reason: untouchable() })],
    'is ready without an answer': ['wait_answer_invalid', () => ({ state: 'ready' })],
    'has an answer that is not JSON': ['wait_answer_invalid', () => ({ state: 'ready', answer: 1n })],
    'has an answer that its schema trips over': ['wait_answer_invalid', () => ({ state: 'ready', answer: 'trips' })],
    'has an answer of 2 MB': ['wait_answer_too_large', () => ({ state: 'ready', answer: 'x'.repeat(2_000_000) })],
    'cannot be looked at': ['wait_answer_invalid', () => Object.defineProperty({}, 'state', { get: () => throwIt(1) })],
  };

  it('C09: ends the item once, with a code and in bounds, and goes on with the others', async () => {
    const answer = z.unknown().transform((value) => (value === 'trips' ? throwIt(new TypeError('it trips')) : value));
    const check = (ids: readonly string[]): Record<string, Checked> =>
      Object.fromEntries(ids.map((id) => [id, (CHECKS[id]?.[1]() ?? { state: 'ready', answer: 'fine' }) as Checked]));
    const waiting = definePayload({
      ...{ ...base, name: 'test.checks' },
      waits: {
        // One id a check, or the one that throws would take the others along.
        answer: defineWait({
          args: z.string(),
          answer,
          start: (id) => id,
          check,
          every: 200,
          tolerate: 1,
          checkBatch: 1,
        }),
      },
      run: (item, ctx) => ctx.wait('answer', item.id),
      resume: { answer: (_item, _ctx, value) => value },
    });
    const { job, items } = await run(waiting, [...Object.keys(CHECKS), 'a good one']);
    const codes = Object.fromEntries(items.map(({ id, error }) => [id, error?.code]));
    expect(codes).toEqual({
      ...Object.fromEntries(Object.entries(CHECKS).map(([id, [code]]) => [id, code])),
      'a good one': undefined,
    });
    for (const item of items) expect(JSON.stringify(item).length).toBeLessThan(BOUND);
    const good = await get(api.url, `/v1/jobs/${job}/items/${encodeURIComponent('a good one')}`, itemViewSchema);
    expect(good).toMatchObject({ state: 'succeeded', result: 'fine' });
    expect(longestLine()).toBeLessThan(LINE);
  });
});
