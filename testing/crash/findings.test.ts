import { z, type CallInfo, type Context } from '../../contract';
import { FixtureVendor } from '../../test/support/fixture-vendor/vendor';
import { payloadOf } from '../../test/support/payload-of';
import { slowVendor } from '../../test/support/slow-vendor';
import { crashPayload, type CrashOptions, type CrashReport } from '../index';
import { crash, items } from './fixtures/booking-vendor';

jest.setTimeout(60_000);

const kinds = ({ findings }: CrashReport): string[] => findings.map(({ kind }) => kind);

describe('a payload that is written wrong is found: ', () => {
  it('a call that nobody can look up', async () => {
    const report = await crash((ctx, vendor) => ctx.vendor('acme').call('quote', vendor.charge), {}, ['a', 'b']);
    expect(report.findings).toEqual([
      {
        kind: 'unknown_charge',
        call: 'acme/quote',
        items: ['a', 'b'],
        at: 'after the intent of acme/quote of item a was stored, before it was sent',
        crashPoints: 4,
        message:
          'item a: it ended as needs_review (unknown_charge) instead of succeeded, because of the call acme/quote: it has ' +
          'neither `reconcile` nor `idempotent`, so that nobody can tell whether it was charged. Give it one of them. ' +
          'The process died after the intent of acme/quote of item a was stored, before it was sent.',
      },
    ]);
  });

  it('a lookup that does not find what was booked', async () => {
    const report = await crash((ctx, vendor) =>
      ctx.vendor('acme').call('quote', vendor.charge, { reconcile: () => ({ state: 'absent' }) }),
    );
    expect(report.findings).toMatchObject([
      { kind: 'made_twice', call: 'acme/quote', items: ['a'], at: expect.stringContaining('was answered') },
      { kind: 'booked_twice', message: expect.stringContaining('2 entries instead of 1') },
    ]);
    expect(report.findings[0]!.message).toContain('acme/quote was made twice, though the vendor had booked it');
  });

  it('a lookup that cannot tell', async () => {
    const report = await crash((ctx, vendor) =>
      ctx.vendor('acme').call('quote', vendor.charge, { reconcile: () => ({ state: 'unknown' }) }),
    );
    expect(report.findings).toMatchObject([{ kind: 'unknown_charge', call: 'acme/quote' }]);
    expect(report.findings[0]!.message).toContain('its reconcile could not tell what came of it');
  });

  it('a name that is another one on each attempt', async () => {
    let attempts = 0;
    const report = await crash((ctx, vendor) =>
      ctx.vendor('acme').call(`quote ${attempts++}`, vendor.charge, { reconcile: vendor.find }),
    );
    expect(kinds(report)).toEqual(['name_changed', 'booked_twice']);
    expect(report.findings[0]!.message).toMatch(
      /acme\/quote \d+ was booked, and the next attempt asked for acme\/quote \d+ instead/,
    );
  });

  it('arguments that are others on each attempt', async () => {
    let attempts = 0;
    const report = await crash((ctx, vendor) =>
      ctx.vendor('acme').call('quote', vendor.charge, { reconcile: vendor.find, args: { at: attempts++ } }),
    );
    expect(report.findings).toMatchObject([
      { kind: 'args_changed', message: expect.stringContaining('had other arguments in an earlier attempt') },
    ]);
  });

  it('two calls of one name', async () => {
    const report = await crash(async (ctx, vendor) => {
      await ctx.vendor('acme').call('quote', vendor.charge, { reconcile: vendor.find });
      return ctx.vendor('acme').call('quote', vendor.charge, { reconcile: vendor.find });
    });
    expect(report.findings).toMatchObject([{ kind: 'name_used_twice', items: ['a'], crashPoints: 0 }]);
    expect(report.findings[0]!.message).toBe(
      'item a: the call "acme/quote" is used twice in one attempt: each call of an item has a name of its own, and the ' +
        'same args every time. This needs no crash.',
    );
  });

  it('an input that never fits, which would prove nothing', async () => {
    const payload = payloadOf(() => 1, { input: z.object({ sku: z.string() }) });
    expect(await crashPayload(payload, items('a'))).toMatchObject({
      findings: [{ kind: 'never_run', items: ['a'], message: expect.stringContaining('does not fit the schema') }],
    });
  });

  it('an item that comes to something else when it runs again', async () => {
    const seen = new Set<string>();
    const report = await crash(
      async (ctx, vendor, item) => {
        if (seen.has(item.id)) return ctx.review('seen before');
        seen.add(item.id);
        return ctx.vendor('acme').call('quote', vendor.charge, { reconcile: vendor.find });
      },
      { before: () => seen.clear(), booked: () => [] },
    );
    expect(report.findings).toMatchObject([
      { kind: 'ends_otherwise', message: expect.stringContaining('needs_review (seen before) instead of succeeded') },
    ]);
  });

  it('usage under a key that is another one on each attempt', async () => {
    let attempts = 0;
    const report = await crash(
      async (ctx, vendor) => {
        ctx.meter('charges', 1, { key: `charge ${attempts++}` });
        await ctx.vendor('acme').call('quote', vendor.charge, { reconcile: vendor.find });
        return {};
      },
      { before: () => void (attempts = 0) },
    );
    expect(report.findings).toMatchObject([{ kind: 'ends_otherwise' }]);
    expect(report.findings[0]!.message).toContain(
      'charges/charge 1 instead of succeeded, with the usage charges/charge 0',
    );
  });
});

describe('requests over HTTP', () => {
  let vendor: FixtureVendor;
  beforeEach(async () => {
    vendor = await new FixtureVendor().start();
  });
  afterEach(() => vendor.stop());
  const charge = async (headers: Record<string, string> = {}): Promise<unknown> => {
    const answer = await fetch(`${vendor.url}/charges`, { method: 'POST', headers });
    return await answer.json();
  };
  const crashed = (run: (ctx: Context) => unknown, options: CrashOptions = {}): Promise<CrashReport> =>
    crashPayload(
      payloadOf((_, ctx) => run(ctx)),
      items('a'),
      options,
    );

  it('that charge outside of a call are found, with nothing but the payload to go by', async () => {
    const report = await crashed(async () => charge());
    expect(report.findings).toMatchObject([{ kind: 'sent_outside', items: ['a'], crashPoints: 1 }]);
    expect(report.findings[0]!.message).toMatch(
      /^item a: POST http:\/\/127\.0\.0\.1:\d+\/charges was made 2 times instead of 1: it is sent outside of ctx\.vendor/,
    );
  });

  it('are left alone where they are said to be harmless, or only read', async () => {
    expect((await crashed(async () => charge(), { harmless: () => true })).findings).toEqual([]);
    const read = async (): Promise<unknown> => (await fetch(`${vendor.url}/charges?key=1`)).json();
    expect((await crashed(read)).findings).toEqual([]);
  });

  it('of an idempotent call carry its key, or are found', async () => {
    const call = (ctx: Context, send: (info: CallInfo) => Promise<unknown>): Promise<unknown> =>
      ctx.vendor('acme').call('quote', send, { idempotent: true });
    let made = 0;
    const [own, none, right] = [
      await crashed((ctx) => call(ctx, () => charge({ 'idempotency-key': `mine ${made++}` }))),
      await crashed((ctx) => call(ctx, () => charge())),
      await crashed((ctx) => call(ctx, ({ key }) => charge({ 'idempotency-key': key }))),
    ];
    expect(own.findings).toMatchObject([{ kind: 'key_unused', call: 'acme/quote' }]);
    expect(own.findings[0]?.message).toContain('had another Idempotency-Key each time');
    expect(none.findings).toMatchObject([{ kind: 'key_unused', call: 'acme/quote' }]);
    expect(none.findings[0]?.message).toContain('never looked at its key');
    expect(right.findings).toEqual([]);
  });

  it('of an effect carry its key, or are found', async () => {
    const report = await crashed((ctx) => ctx.once('charge', () => charge()));
    expect(report.findings).toMatchObject([{ kind: 'key_unused', call: 'once/charge' }]);
  });
});

describe('a start that nobody can look up', () => {
  it('is found as the wait that it belongs to', async () => {
    const { payload } = slowVendor();
    const report = await crashPayload(payload, items('a'));
    expect(report.findings).toMatchObject([{ kind: 'unknown_charge', call: 'wait:verdict', items: ['a'] }]);
  });
});
