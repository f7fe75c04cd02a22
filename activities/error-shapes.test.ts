import { Defer, Reject, definePayload, z } from '../contract';
import { batchesOf, payloadOf } from '../test/support/payload-of';
import { UnitRig, code, states } from '../test/support/unit-rig';

/** The largest that an outcome of an error may be, characters of JSON. */
const BOUND = 12_000;

function deepCause(depth: number): Error {
  let error = new Error(`cause ${depth}`);
  for (let i = depth - 1; i >= 0; i--) error = new Error(`cause ${i}`, { cause: error });
  return error;
}
function cyclic(): Error {
  const error = new Error('goes round');
  return Object.assign(error, { cause: Object.assign(new Error('and round'), { cause: error }) });
}
function longStack(): Error {
  const lines = Array.from({ length: 10_000 }, (_, i) => `    at line${i} (file.ts:${i}:1)`);
  return Object.assign(new Error('long'), { stack: `Error: long\n${lines.join('\n')}` });
}
const throwing = (key: string, value: object = new Error('it broke')): object =>
  Object.defineProperty(value, key, {
    get() {
      throw new Error(`${key} cannot be read`);
    },
  });
function selfish(): object {
  const object: Record<string, unknown> = {};
  return Object.assign(object, { object });
}
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const shapes: [what: string, thrown: () => unknown, message: RegExp][] = [
  ['an error with a message of 5 MB', () => new Error('m'.repeat(5_000_000)), /^m{2000}… \(4998000 characters more\)$/],
  ['a text of 5 MB', () => 'm'.repeat(5_000_000), /^m{2000}…/],
  ['a stack of 10,000 lines', longStack, /^long$/],
  ['500 causes', () => deepCause(500), /^cause 0$/],
  ['a cyclic cause', cyclic, /^goes round$/],
  ['causes of 5 MB', () => new Error('x', { cause: new Error('m'.repeat(5_000_000)) }), /^x$/],
  ['a text', () => 'just a text', /^just a text$/],
  ['an empty text', () => '', /empty text/],
  ['undefined', () => undefined, /^undefined was thrown$/],
  ['null', () => null, /^null was thrown$/],
  ['a number', () => 42, /^42/],
  ['a BigInt', () => 42n, /./],
  ['a symbol', () => Symbol('odd'), /odd/],
  ['a function', () => () => 1, /./],
  ['a plain object', () => ({ status: 500 }), /^\{"status":500\}$/],
  ['an object with a cycle', selfish, /^a value that cannot be shown/],
  ['an object without a prototype', () => Object.create(null) as unknown, /^\{\}$/],
  ['an object that is nothing as JSON', () => ({ toJSON: () => undefined }), /./],
  ['a frozen error', () => Object.freeze(new Error('frozen')), /^frozen$/],
  ['an error with no message', () => new Error(''), /without a message/],
  ['an error whose name is no text', () => Object.assign(new Error(''), { name: Object.create(null) as string }), /./],
  ['an error whose message cannot be read', () => throwing('message'), /./],
  ['an error whose stack cannot be read', () => throwing('stack'), /^it broke$/],
  ['an error whose cause cannot be read', () => throwing('cause'), /^it broke$/],
  ['an error whose code cannot be read', () => throwing('code'), /^it broke$/],
  ['an object of which nothing can be read', revoked, /./],
  ['a code that is no code', () => Object.assign(new Error('x'), { code: 'c'.repeat(5_000_000) }), /^x$/],
];

describe('whatever is thrown, the item is retried and says why, in bounds', () => {
  it.each(shapes)('%s', async (_, thrown, message) => {
    const payload = payloadOf<string>((item) => {
      if (item.input === 'sync') throw thrown();
      return Promise.reject(thrown()); // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors
    });
    const rig = await UnitRig.open(payload);
    for (const item of await rig.items(['sync', 'async'])) {
      expect(item).toMatchObject({ state: 'waiting', attempts: 1 });
      expect(item.parked!.error).toMatchObject({ code: 'error', message: expect.stringMatching(message) });
      expect(JSON.stringify(item.parked!.error).length).toBeLessThan(BOUND);
    }
  });

  it('at its last attempt too: the outcome is as bounded as the parking', async () => {
    const rig = await UnitRig.open(
      payloadOf(() => {
        throw Object.assign(longStack(), { code: 'E_LONG', cause: deepCause(500) });
      }),
    );
    const [item] = await rig.items([1], {}, { maxAttempts: 1 });
    expect(item).toMatchObject({ state: 'failed', body: { error: { code: 'E_LONG', message: 'long' } } });
    expect(item!.body!.error!.causes).toHaveLength(5);
    expect(item!.body!.error!.stack).toMatch(/^ {4}at line0 .*/);
    expect(JSON.stringify(item!.body).length).toBeLessThan(BOUND);
  });
});

describe('an odd Reject or Defer', () => {
  it('keeps its meaning: a code that is no code becomes `rejected`', async () => {
    const payload = payloadOf<string>((item) => {
      throw new Reject('no', { code: item.input });
    });
    const rig = await UnitRig.open(payload);
    const items = await rig.items(['bad_row', 'c'.repeat(5_000_000), 'two words', '']);
    expect(items.map(code)).toEqual(['bad_row', 'rejected', 'rejected', 'rejected']);
    expect(states(items)).toEqual(['failed', 'failed', 'failed', 'failed']);
  });

  it.each([undefined, null, {}, { after: NaN }, { after: 'soon' }, { after: -5 }, { until: 'soon' }, { until: null }])(
    'comes back at the soonest when its time is %j',
    async (when) => {
      const payload = payloadOf(() => {
        throw new Defer('later', when as never);
      });
      const rig = await UnitRig.open(payload);
      const [item] = await rig.items([1]);
      expect(item).toMatchObject({ state: 'deferred', attempts: 0 });
      expect(item!.parked!.due - rig.clock.now()).toBeGreaterThanOrEqual(1_000);
      expect(item!.parked!.due - rig.clock.now()).toBeLessThanOrEqual(2_000);
    },
  );

  it('comes back when it says, within a day', async () => {
    const payload = payloadOf<object>((item) => {
      const { at, after } = item.input as { at?: number; after: number };
      throw new Defer('later', at === undefined ? { after } : { until: new Date(at) });
    });
    const rig = await UnitRig.open(payload);
    const now = rig.clock.now();
    const items = await rig.items([{ after: 5_000 }, { at: now + 7_000 }, { after: 1e12 }, { at: now - 1 }]);
    const delays = items.map((item) => item.parked!.due - now);
    // Never early; later by what spreads them, a fifth and at most a minute, and by the grain of due times.
    for (const [i, asked] of [5_000, 7_000, 86_400_000, 1_000].entries()) {
      expect(delays[i]).toBeGreaterThanOrEqual(asked);
      expect(delays[i]! - asked).toBeLessThanOrEqual(Math.min(60_000, asked * 0.2) + Math.max(1_000, asked * 0.05));
    }
  });
});

describe('errors that are given back instead of thrown', () => {
  it('are errors all the same', async () => {
    const rig = await UnitRig.open(
      payloadOf<string>((item) => (item.input === 'reject' ? new Reject('no') : new TypeError('odd'))),
    );
    expect(states(await rig.items(['reject', 'other']))).toEqual(['failed', 'waiting']);
  });

  it('also those of another realm', async () => {
    // Node's own errors are, under jest, of another realm than the payload's.
    const foreign = await import('node:fs/promises').then((fs) => fs.readFile('/nowhere').catch((e: unknown) => e));
    expect(foreign).not.toBeInstanceOf(Error);
    const payload = batchesOf(async (ctx) => {
      for await (const batch of ctx.batches({ size: 1 })) batch.settle(batch.items[0]!, foreign);
    });
    const rig = await UnitRig.open(payload);
    expect((await rig.items([1])).map(code)).toEqual(['ENOENT']);
  });
});

describe('a schema that throws', () => {
  const boom = z.any().transform((value) => {
    if (value === 'bad') throw new TypeError('a transform that throws');
    return value as unknown;
  });
  const payload = (more: object) => definePayload({ ...base, ...more });
  const base = { name: 'test.schema', version: 1, vocabulary: [], input: z.any(), result: z.any(), run: () => 1 };

  it('of the input fails that item alone, as input_invalid, with no attempt', async () => {
    const rig = await UnitRig.open(payload({ input: boom }));
    const items = await rig.items(['bad', 'good']);
    expect(states(items)).toEqual(['failed', 'succeeded']);
    expect(items[0]).toMatchObject({ attempts: 0, body: { error: { code: 'input_invalid' } } });
  });

  it('of the result fails that item alone, as result_invalid', async () => {
    const rig = await UnitRig.open(payload({ result: boom, run: (item: { input: unknown }) => item.input }));
    const items = await rig.items(['bad', 'good']);
    expect(states(items)).toEqual(['failed', 'succeeded']);
    expect(code(items[0])).toBe('result_invalid');
  });

  it('or does not fit, of the params, fails every item, as params_invalid', async () => {
    const params = z.object({ n: boom.pipe(z.number()) });
    const rig = await UnitRig.open(payload({ params }));
    for (const n of ['bad', 'not a number']) {
      const job = await rig.submit([1, 2], {}, { n });
      await rig.run(job);
      expect(await rig.views(job)).toMatchObject([
        { state: 'failed', attempts: 0, body: { error: { code: 'params_invalid' } } },
        { state: 'failed' },
      ]);
    }
  });
});
