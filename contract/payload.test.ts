import { DEFAULT_LIMITS, createRegistry, definePayload, isPayload, toMs, z, type Payload } from '.';

const base = { name: 'test.run', version: 1, vocabulary: [], input: z.any(), result: z.any(), run: () => 1 };
const define = (more: object = {}): Payload => definePayload({ ...base, ...more });

describe('definePayload', () => {
  it('names the capability, and fills in what is not given', () => {
    const payload = define();
    expect(payload).toMatchObject({ capability: 'test.run@1', description: '', limits: DEFAULT_LIMITS });
    expect(payload.params.safeParse({ extra: 1 }).success).toBe(false);
    expect(payload.config.parse({ extra: 1 })).toEqual({});
    expect(isPayload(payload)).toBe(true);
    expect(Object.isFrozen(payload)).toBe(true);
  });

  it('reads limits as durations and numbers', () => {
    const limits = {
      itemTimeout: '2m',
      maxAttempts: 5,
      concurrency: 7,
      batch: 9,
      unit: { max: 11 },
      backoff: { initial: '10s', max: '1h' },
      deferral: { max: 3, maxTime: '2d' },
    };
    expect(define({ limits }).limits).toEqual({
      itemTimeoutMs: 120_000,
      maxAttempts: 5,
      concurrency: 7,
      batch: 9,
      unitMax: 11,
      backoff: { initialMs: 10_000, maxMs: 3_600_000 },
      deferral: { max: 3, maxTimeMs: 172_800_000 },
    });
  });

  it('lets a first delay over the largest raise that', () => {
    expect(define({ limits: { backoff: { initial: '1h' } } }).limits.backoff.maxMs).toBe(3_600_000);
  });

  it.each([
    ['name', { name: 'Test' }, /lower-case words/],
    ['name', { name: 'test.' }, /lower-case words/],
    ['version', { version: 0 }, /positive whole number/],
    ['version', { version: 1.5 }, /positive whole number/],
    ['handler', { run: undefined }, /either run or batches/],
    ['handler', { batches: () => Promise.resolve() }, /either run or batches/],
    ['limit', { limits: { maxAttempts: 0 } }, /limits\.maxAttempts is under 1/],
    ['limit', { limits: { concurrency: 1_001 } }, /limits\.concurrency is over 1000/],
    ['limit', { limits: { batch: 2.5 } }, /limits\.batch is not a whole number/],
    ['limit', { limits: { itemTimeout: '2h' } }, /limits\.itemTimeout is over/],
    ['limit', { limits: { itemTimeout: 'soon' } }, /not a duration/],
  ])('refuses a wrong %s: %j', (_, more, message) => {
    expect(() => define(more)).toThrow(TypeError);
    expect(() => define(more)).toThrow(message);
  });

  it.each([undefined, null, {}, base, 'test.run@1'])('makes what is not %j', (value) => {
    expect(isPayload(value)).toBe(false);
  });

  it('keeps `this` of a spec with methods', async () => {
    const spec = {
      ...base,
      secret: 7,
      run(this: { secret: number }) {
        return this.secret;
      },
    };
    expect(await definePayload(spec as never).run?.({ id: 'a', input: 1 }, {} as never)).toBe(7);
  });
});

describe('a registry', () => {
  const payloads = [define({ version: 2 }), define({ name: 'a.b', version: 10 }), define({ version: 10 }), define()];
  const registry = createRegistry(payloads);

  it('finds a payload by name and version, and the newest by name', () => {
    expect(registry.get('test.run@2')?.version).toBe(2);
    expect(registry.get('test.run')?.version).toBe(10);
    expect(registry.get('test.run@3')).toBeUndefined();
    expect(registry.get('constructor')).toBeUndefined();
  });

  it('lists them by name and version', () => {
    expect(registry.list().map((payload) => payload.capability)).toEqual([
      'a.b@10',
      'test.run@1',
      'test.run@2',
      'test.run@10',
    ]);
  });

  it('refuses two of the same name and version', () => {
    expect(() => createRegistry([define(), define()])).toThrow('two payloads are named test.run@1');
  });
});

describe('a duration', () => {
  it.each([
    [0, 0],
    [1_500, 1_500],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['1d', 86_400_000],
  ] as const)('%j is %i ms', (duration, ms) => {
    expect(toMs(duration)).toBe(ms);
  });

  it.each([-1, NaN, Infinity, 'soon', '-5s', null, undefined, {}])('%j is none', (value) => {
    expect(() => toMs(value as never)).toThrow();
  });
});
