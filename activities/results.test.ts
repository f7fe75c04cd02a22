import { z } from '../contract';
import { payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';

const KB = 1_000;
/** A result whose outcome is `bytes` of JSON. */
const sized = (bytes: number): string => 'x'.repeat(bytes - '{"result":""}'.length);

describe('a result', () => {
  it('may be up to a megabyte, and fails once, naming the limit, when it is larger', async () => {
    const payload = payloadOf<number>((item) => sized(item.input));
    const rig = await UnitRig.open(payload);
    const items = await rig.items([1_000 * KB, 1_000 * KB + 1, 1_900 * KB, 2_100 * KB, 5_000 * KB]);
    expect(states(items)).toEqual(['succeeded', 'failed', 'failed', 'failed', 'failed']);
    expect(items[1]).toMatchObject({ attempts: 1, body: { error: { code: 'result_too_large' } } });
    expect(items[1]!.body!.error!.message).toBe('the result is 1000001 bytes of JSON, over the limit of 1000000');
  });

  it('is measured in bytes, not in characters, and so is a draft', async () => {
    const payload = payloadOf<string>((item, ctx) => {
      const text = '😀'.repeat(300 * KB);
      return item.input === 'review' ? ctx.review('look', text) : text;
    });
    const rig = await UnitRig.open(payload);
    expect((await rig.items(['result', 'review'])).map(code)).toEqual(['result_too_large', 'result_too_large']);
  });

  it('may finish together with 199 others of 100 KB', async () => {
    const payload = payloadOf(async () => Promise.resolve('x'.repeat(100 * KB)), { limits: { concurrency: 200 } });
    const rig = await UnitRig.open(payload);
    const items = await rig.items(
      Array.from({ length: 200 }, () => 0),
      { slots: 200 },
    );
    expect(new Set(states(items))).toEqual(new Set(['succeeded']));
    const sizes = rig.flushes.map(({ flush }) => flush.settled.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(40);
    expect(rig.flushes.map(({ flush }) => flush.close)).toEqual(sizes.map((_, i) => i === sizes.length - 1));
  });

  it.each([
    ['a BigInt', { n: 1n }],
    ['a cycle', Object.assign([] as unknown[], { 0: null }).concat([])],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
    ],
  ])('with %s fails once', async (what, value) => {
    const result: unknown = what === 'a cycle' ? (value as unknown[]).fill(value) : value;
    const rig = await UnitRig.open(payloadOf(() => result));
    const [item] = await rig.items([1]);
    expect(item).toMatchObject({ state: 'failed', attempts: 1 });
    expect(code(item)).toBe('result_not_json');
  });

  it('that does not fit its schema fails without a retry, with the path', async () => {
    const payload = payloadOf(() => ({ list: [1, 'two'] }), { result: z.object({ list: z.array(z.number()) }) });
    const rig = await UnitRig.open(payload);
    expect(await rig.items([1])).toMatchObject([
      { state: 'failed', attempts: 1, body: { error: { code: 'result_invalid', issues: [{ path: 'list.1' }] } } },
    ]);
  });

  it('of nothing fails where the schema wants something, and is nothing where it does not', async () => {
    const strict = await UnitRig.open(payloadOf(() => undefined, { result: z.object({}) }));
    expect((await strict.items([1])).map(code)).toEqual(['result_invalid']);
    const lax = await UnitRig.open(payloadOf(() => undefined));
    expect(await lax.items([1])).toMatchObject([{ state: 'succeeded', body: {} }]);
  });

  it('is stored as its schema gives it out', async () => {
    const result = z.object({ n: z.number().transform((n) => n * 2), note: z.string().default('none') });
    const rig = await UnitRig.open(payloadOf(() => ({ n: 4, extra: true }), { result }));
    expect((await rig.items([1]))[0]!.body).toEqual({ result: { n: 8, note: 'none' } });
  });

  it.each([
    ['a promise-like', { then: (done: (value: unknown) => void) => done('late') }, 'succeeded'],
    [
      'one that throws',
      {
        then: () => {
          throw new Error('no');
        },
      },
      'waiting',
    ],
    [
      'one that cannot be looked at',
      Object.defineProperty({}, 'then', {
        get: () => {
          throw new Error('no');
        },
      }),
      'waiting',
    ],
  ])('may be %s', async (_, returned, state) => {
    const rig = await UnitRig.open(payloadOf(() => returned));
    expect(states(await rig.items([1]))).toEqual([state]);
  });
});
