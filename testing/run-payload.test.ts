import { Defer, Reject, definePayload, z, type Payload } from '../contract';
import { payloadOf } from '../test/support/payload-of';
import { slowVendor } from '../test/support/slow-vendor';
import { runPayload, type ItemReport, type TestItem } from './index';

const items = (...inputs: unknown[]): TestItem[] => inputs.map((input, i) => ({ id: `i${i}`, input }));
async function one(payload: Payload, options = {}): Promise<ItemReport> {
  const [report] = await runPayload(payload, items({}), options);
  return report!;
}

describe('what an item ends as', () => {
  const deeds: Record<string, () => unknown> = {
    ok: () => ({ done: true }),
    bad: () => 'not an object',
    reject: () => {
      throw new Reject('never', { code: 'hopeless' });
    },
    defer: () => {
      throw new Defer('not yet', { after: 40_000 });
    },
    fault: () => {
      throw Object.assign(new Error('it broke'), { code: 'boom' });
    },
    text: () => {
      throw 'just a text'; // eslint-disable-line @typescript-eslint/only-throw-error
    },
  };
  const payload = payloadOf<string>(
    (item, ctx) => (item.input === 'review' ? ctx.review('look', { n: 1 }) : deeds[item.input]!()),
    { result: z.looseObject({}) },
  );

  it('is reported in the order of the items', async () => {
    const reports = await runPayload(payload, items('ok', 'review', 'reject', 'bad', 'defer', 'fault', 'text'));
    const none = { usage: [], log: [] };
    expect(reports).toEqual([
      { id: 'i0', state: 'succeeded', attempts: 1, result: { done: true }, ...none },
      { id: 'i1', state: 'needs_review', attempts: 1, reason: 'look', draft: { n: 1 }, ...none },
      { id: 'i2', state: 'failed', attempts: 1, error: expect.objectContaining({ code: 'hopeless' }), ...none },
      { id: 'i3', state: 'failed', attempts: 1, error: expect.objectContaining({ code: 'result_invalid' }), ...none },
      expect.objectContaining({
        state: 'deferred',
        attempts: 0,
        error: expect.objectContaining({ message: 'not yet' }),
      }),
      expect.objectContaining({ state: 'waiting', attempts: 1, error: expect.objectContaining({ code: 'boom' }) }),
      expect.objectContaining({ state: 'waiting', error: { code: 'error', message: 'just a text' } }),
    ]);
    expect(reports[4]!.due).toBeGreaterThan(39_000);
    expect(reports[4]!.due).toBeLessThanOrEqual(50_000);
  });

  it('is failed with the path for an input that does not fit, without a run', async () => {
    const run = jest.fn(() => ({}));
    const strict = payloadOf(run, { input: z.object({ n: z.number() }) });
    const [bad, good] = await runPayload(strict, items({ n: 'x' }, { n: 1 }));
    expect(bad).toMatchObject({
      state: 'failed',
      attempts: 0,
      error: { code: 'input_invalid', issues: [{ path: 'n' }] },
    });
    expect(good).toMatchObject({ state: 'succeeded' });
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('is the end of all its attempts, with no wait in between', async () => {
    let runs = 0;
    const flaky = payloadOf(
      () => {
        if (++runs < 3) throw new Error('again');
        return { runs };
      },
      { limits: { backoff: { initial: '1h' } } },
    );
    expect(await one(flaky, { attempts: 2 })).toMatchObject({ state: 'waiting', attempts: 2 });
    runs = 0;
    expect(await one(flaky, { attempts: 3 })).toMatchObject({ state: 'succeeded', attempts: 3, result: { runs: 3 } });
  });

  it('is failed when its attempts are spent; a deferral counts none', async () => {
    let runs = 0;
    const never = payloadOf(() => {
      if (++runs % 2) throw new Defer('not yet', { after: 60_000 });
      throw Object.assign(new Error('it broke'), { code: 'boom' });
    });
    expect(await one(never, { attempts: 10 })).toMatchObject({ state: 'failed', attempts: 3, error: { code: 'boom' } });
    expect(runs).toBe(6);
  });

  it('is waiting after a time-out, told through the signal', async () => {
    const slow = payloadOf(
      (_, ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error));
        }),
      { limits: { itemTimeout: '20ms' } },
    );
    expect(await one(slow)).toMatchObject({ state: 'waiting', attempts: 1, error: { code: 'item_timeout' } });
    const deaf = payloadOf(() => new Promise(() => undefined), { limits: { itemTimeout: '20ms' } });
    expect(await one(deaf)).toMatchObject({ state: 'waiting', attempts: 1, error: { code: 'item_timeout' } });
  });

  it('is skipped, or what it came to, when the signal cancels the job', async () => {
    const stop = new AbortController();
    const cancelled = payloadOf(
      async (item, ctx) => {
        if (item.input === 'first') return {};
        stop.abort();
        await new Promise<void>((told) => ctx.onCancel(told));
        if (item.input === 'stops') ctx.signal.throwIfAborted();
        return { cancelled: ctx.cancelled() };
      },
      { limits: { concurrency: 2 } },
    );
    expect(
      await runPayload(cancelled, items('first', 'stops', 'finishes', 'never'), { signal: stop.signal }),
    ).toMatchObject([
      { state: 'succeeded' },
      { state: 'skipped', reason: 'cancelled', attempts: 0 },
      { state: 'succeeded', result: { cancelled: true } },
      { state: 'skipped' },
    ]);
    const [report] = await runPayload(
      payloadOf(() => ({})),
      items('late'),
      { signal: AbortSignal.abort() },
    );
    expect(report).toMatchObject({ state: 'skipped' });
  });
});

describe('what an attempt says besides', () => {
  it('is reported with its item: usage once a key, whatever the end, and lines of the log', async () => {
    const talker = payloadOf((item, ctx) => {
      ctx.meter('tokens', 5, { key: 'call' });
      ctx.meter('tokens', 7, { key: 'call' });
      ctx.meter('pages', 1, { key: 'page' });
      ctx.log.warn(`about ${item.id}`, { n: 1 });
      throw new Error('too bad');
    });
    const reports = await runPayload(talker, items({}, {}), { attempts: 2 });
    const usage = [
      { name: 'tokens', quantity: 5, key: 'call' },
      { name: 'pages', quantity: 1, key: 'page' },
    ];
    for (const { id, ...said } of reports) {
      const line = { level: 'warn', message: `about ${id}` };
      expect(said).toMatchObject({ state: 'waiting', usage, log: [line, line] });
    }
  });
});

describe('what waits', () => {
  it('is answered in the end, no more at a time than may be open, and on its first attempt', async () => {
    const vendor = slowVendor({ maxOpen: 2, answersAfter: 3 });
    const reports = await runPayload(vendor.payload, items({}, {}, {}, {}, {}));
    expect(reports.map(({ state, attempts }) => [state, attempts])).toEqual(Array(5).fill(['succeeded', 1]));
    expect(vendor.starts).toHaveLength(5);
    expect(vendor.mostOpen).toBe(2);
  });
});

describe('params and config', () => {
  const payload = payloadOf((_, ctx) => ({ params: ctx.params, config: ctx.config }), {
    params: z.object({ most: z.number().default(7) }),
    config: z.object({ retries: z.coerce.number().default(1), url: z.string() }),
  });

  it('reach the payload as its schemas give them out', async () => {
    const { result } = await one(payload, { params: {}, config: { url: 'x', retries: '3' } });
    expect(result).toEqual({ params: { most: 7 }, config: { url: 'x', retries: 3 } });
  });

  it.each([
    [{ params: { most: 'x' }, config: { url: 'x' } }, /params given do not fit test\.run@1: most: /],
    [{}, /config given do not fit test\.run@1: url: /],
  ])('are refused when they do not fit', async (options, message) => {
    await expect(runPayload(payload, items({}), options)).rejects.toThrow(message);
  });

  it('as are inputs that are not JSON, and ids that occur twice', async () => {
    await expect(
      runPayload(
        payloadOf(() => ({})),
        items(undefined),
      ),
    ).rejects.toThrow('"i0" is not JSON');
    const twice = [...items({}), ...items({})];
    await expect(
      runPayload(
        payloadOf(() => ({})),
        twice,
      ),
    ).rejects.toThrow('"i0"');
  });

  it('and no items have no reports', async () => {
    expect(
      await runPayload(
        payloadOf(() => ({})),
        [],
      ),
    ).toEqual([]);
  });
});

describe('a payload of batches', () => {
  it('is given batches within its limits, and each item ends as it was settled', async () => {
    const sizes: number[] = [];
    const payload = definePayload({
      name: 'test.batches',
      version: 1,
      vocabulary: [],
      input: z.number(),
      result: z.object({ half: z.number() }),
      limits: { batch: 3 },
      async batches(ctx) {
        for await (const batch of ctx.batches({ size: 10 })) {
          sizes.push(batch.items.length);
          for (const item of batch.items) {
            ctx.meter('rows', 1, { key: 'row', item });
            if (item.input === 1) batch.settle(item, new Reject('odd', { code: 'odd' }));
            else if (item.input === 2) batch.settle(item, ctx.review('two'));
            else if (item.input === 3) batch.settle(item, new Defer('later', { after: 5_000 }));
            else if (item.input !== 4) batch.settle(item, { half: item.input / 2 });
          }
        }
      },
    });
    const reports = await runPayload(payload, items(0, 1, 2, 3, 4));
    expect(sizes).toEqual([3, 2]);
    expect(reports).toMatchObject([
      { state: 'succeeded', result: { half: 0 }, usage: [{ name: 'rows' }] },
      { state: 'failed', error: { code: 'odd' } },
      { state: 'needs_review', reason: 'two' },
      { state: 'deferred', attempts: 0 },
      { state: 'waiting', error: { code: 'not_settled' } },
    ]);
  });
});
