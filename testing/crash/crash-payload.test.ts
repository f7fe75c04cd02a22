import { Defer, defineWait, definePayload, z } from '../../contract';
import { batchesOf, payloadOf } from '../../test/support/payload-of';
import { crashPayload } from '../index';
import { BookingVendor, crash, items, type Run } from './fixtures/booking-vendor';

jest.setTimeout(60_000);

describe('a payload that may die anywhere', () => {
  const right: Run = async (ctx, vendor) => {
    const acme = ctx.vendor('acme');
    const one = await acme.call('one', vendor.charge, { reconcile: vendor.find });
    await acme.call('two', vendor.chargeOnce, { idempotent: true });
    await ctx.once('note', (key) => key.length);
    ctx.meter('charges', 2, { key: 'charges' });
    return one;
  };

  it('is clean, at each of its crash points', async () => {
    const report = await crash(right, {});
    expect(report.findings).toEqual([]);
    expect(report.items).toMatchObject([{ state: 'succeeded' }]);
    expect(report.crashPoints).toEqual([
      'after a worker had taken the work, before anything of it started',
      ...['acme/one', 'acme/two', 'once/note'].flatMap((call) => [
        `before the intent of ${call} of item a was stored`,
        `after the intent of ${call} of item a was stored, before it was sent`,
        `after ${call} of item a was answered, before that was stored`,
        `after the result of ${call} of item a was stored, before the payload had it`,
      ]),
      'before the outcome of item a was stored',
      'after the outcome of item a was stored, before the worker knew it',
    ]);
    expect(report).toMatchObject({ leftOut: 0, notReached: [] });
    expect(report.text).toMatch(/^died at 15 crash points: nothing was found\n/);
  });

  it('has what was sent again by design named all the same', async () => {
    const { repeats, text } = await crash(right, {});
    expect(repeats).toEqual([
      {
        items: ['a'],
        call: 'acme/two',
        protection: 'idempotent',
        at: expect.stringContaining('two of item a was answ'),
      },
      { items: ['a'], call: 'once/note', protection: 'effect', at: expect.stringContaining('note of item a was answ') },
    ]);
    expect(text).toContain('sent again after it had been booked: acme/two (idempotent), once/note (effect)');
  });

  it('is clean with calls side by side, with attempts that fail or are put off, with items that are turned down', async () => {
    const runs = new Map<string, number>();
    const report = await crash(
      async (ctx, vendor, item) => {
        const nth = (runs.get(item.id) ?? 0) + 1;
        runs.set(item.id, nth);
        const call = (name: string): Promise<unknown> =>
          ctx.vendor('acme').call(name, vendor.charge, { reconcile: vendor.find });
        await Promise.all([call('left'), call('right')]);
        if (item.id === 'fails' && nth < 3) throw new Error('a transient fault');
        if (item.id === 'defers' && nth < 2) throw new Defer('not yet', { after: 60_000 });
        return item.id === 'review' ? ctx.review('look') : {};
      },
      { before: () => runs.clear(), limit: 20 },
      ['fails', 'defers', 'review'],
    );
    expect(report.text).toMatch(/^died at 20 crash points: nothing was found\n19 of 39 crash points were left out/);
    expect(report.items.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'needs_review']);
  });

  it('is clean when it waits for a vendor, and every start was looked up', async () => {
    const started = new Map<string, string>();
    const verdict = defineWait({
      args: z.object({ id: z.string() }),
      answer: z.string(),
      start: ({ id }, { key }) => {
        if (started.has(key)) throw new Error('started twice');
        started.set(key, `remote-${id}`);
        return `remote-${id}`;
      },
      reconcile: (_args, { key }) =>
        started.has(key) ? { state: 'done', result: started.get(key)! } : { state: 'absent' },
      check: (ids) => Object.fromEntries(ids.map((id) => [id, { state: 'ready' as const, answer: `yes ${id}` }])),
    });
    const payload = definePayload({
      ...{ name: 'test.waits', version: 1, vocabulary: [], input: z.object({}), result: z.string() },
      waits: { verdict },
      run: (item, ctx) => ctx.wait('verdict', { id: item.id }),
      resume: { verdict: (_item, _ctx, answer) => answer },
    });
    const report = await crashPayload(payload, items('a', 'b'));
    expect(report.findings).toEqual([]);
    expect(report.crashPoints.filter((words) => words.includes('verdict'))).toEqual(
      expect.arrayContaining([
        'after wait:verdict of item a was answered, before that was stored',
        'after the vendor was asked about verdict, before what it said was stored',
      ]),
    );
  });

  it('is clean in batches, which keep their members', async () => {
    const vendor = new BookingVendor();
    const payload = batchesOf(
      async (ctx) => {
        for await (const batch of ctx.batches({ size: 2 })) {
          const { charged } = await ctx.vendor('acme').call('batch', vendor.charge, { reconcile: vendor.find });
          for (const item of batch.items) batch.settle(item, { charged });
        }
      },
      { limits: { batch: 2 } },
    );
    const report = await crashPayload(payload, items('a', 'b', 'c'), vendor.options());
    expect(report.findings).toEqual([]);
    expect(report.crashPoints).toContain('after items a and b had been worked on, before the next batch');
    expect(report.crashPoints).toContain('after acme/batch of item c was answered, before that was stored');
  });
});

describe('crash points', () => {
  const quote: Run = (ctx, vendor) => ctx.vendor('acme').call('quote', vendor.charge, { reconcile: vendor.find });

  it('are the same for the same seed; those over the limit are left out and counted', async () => {
    const all = await crash(quote, {}, ['a', 'b']);
    const some = await crash(quote, { limit: 4, seed: 7 }, ['a', 'b']);
    const again = await crash(quote, { limit: 4, seed: 7 }, ['a', 'b']);
    expect(all.crashPoints).toHaveLength(14);
    expect(some.crashPoints).toHaveLength(4);
    expect(again.crashPoints).toEqual(some.crashPoints);
    expect(all.crashPoints.filter((words) => some.crashPoints.includes(words)).length).toBeGreaterThanOrEqual(4);
    expect(some.leftOut).toBe(10);
    expect(some.text).toContain('10 of 14 crash points were left out: the limit is 4. Raise it to try them all.');
  });

  it('that a second run does not come to are named', async () => {
    let runs = 0;
    const report = await crash((ctx, vendor, item) => (runs++ < 1 ? quote(ctx, vendor, item) : {}));
    expect(report.notReached.length).toBeGreaterThan(0);
    expect(report.text).toContain('the payload does not do the same each time');
  });

  it('leave nothing behind: a dead process does not go on', async () => {
    let after = 0;
    const report = await crash(
      async (ctx, vendor) => {
        await ctx.vendor('acme').call('quote', vendor.charge, { reconcile: vendor.find });
        after++;
        return {};
      },
      { before: () => void (after = 0) },
    );
    expect(report.findings).toEqual([]);
    // The last run died after the outcome was stored: its payload was through, and did not run again.
    expect(after).toBe(1);
  });

  it('do not show in what a payload is given: it may be spread, taken apart and passed on', async () => {
    const seen: string[][] = [];
    const payload = payloadOf((_, { vendor, ...rest }) =>
      vendor('acme').call(
        'quote',
        ({ key, ...others }) => {
          seen.push([typeof key, ...Object.keys(others), ...Object.keys(rest)]);
          return { key };
        },
        { idempotent: true },
      ),
    );
    expect((await crashPayload(payload, items('a'))).findings).toEqual([]);
    expect(new Set(seen.map((keys) => keys.join(' ')))).toEqual(new Set(['string signal item']));
  });

  it('refuse what runPayload refuses', async () => {
    await expect(
      crashPayload(
        payloadOf(() => 1),
        [{ id: 'a', input: undefined }],
      ),
    ).rejects.toThrow('is not JSON');
  });
});
