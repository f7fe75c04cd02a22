import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { FixtureVendor, type VendorOptions } from '../../test/support/fixture-vendor/vendor';
import { crashPayload, runPayload, type ItemReport, type RunPayloadOptions } from '../../testing';
import payload, { feedSubmit, type FeedSubmitOptions } from './index';

const before = getGlobalDispatcher();
const agent = new Agent();
beforeAll(() => setGlobalDispatcher(agent));
afterAll(async () => {
  setGlobalDispatcher(before);
  await agent.destroy();
});

const lamp = { sku: 'a-1', title: 'A lamp', price: 19.9, currency: 'EUR' };
const USED = [{ name: 'submissions', quantity: 1, key: 'submission' }];

jest.setTimeout(60_000);

let vendor: FixtureVendor;
afterEach(() => vendor.stop());

async function vendorWith(options: VendorOptions = {}): Promise<void> {
  vendor = await new FixtureVendor(options).start();
}

function submit(
  n: number,
  run: RunPayloadOptions & { path?: string } = {},
  options?: FeedSubmitOptions,
): Promise<ItemReport[]> {
  const items = Array.from({ length: n }, (_, i) => ({ id: `i${i}`, input: { ...lamp, sku: `sku-${i}` } }));
  const config = { baseUrl: vendor.url + (run.path ?? '') };
  return runPayload(options ? feedSubmit(options) : payload, items, { attempts: 3, config, ...run });
}

async function submitOne(...how: [run?: Parameters<typeof submit>[1], options?: FeedSubmitOptions]) {
  const [report] = await submit(1, ...how);
  return report!;
}

describe('an entry', () => {
  it('is submitted once with its feed, and ends with the verdict', async () => {
    await vendorWith();
    expect(await submitOne({ params: { feed: 'shop' } })).toMatchObject({
      state: 'succeeded',
      attempts: 1,
      result: { submissionId: 'sub-1', verdict: 'accepted' },
      usage: USED,
    });
    expect(vendor.ledger.submissions.get('sub-1')!.body).toEqual({ ...lamp, sku: 'sku-0', feed: 'shop' });
    expect(vendor.ledger).toMatchObject({ repeated: 0, cancelRequests: [] });
  });

  it('fails, with no charge in doubt, when there is no vendor to talk to', async () => {
    await vendorWith();
    const { url } = vendor;
    await vendor.stop();
    const item = { id: 'a', input: lamp };
    const [report] = await runPayload(payload, [item], { config: { baseUrl: url }, attempts: 3 });
    expect(report).toMatchObject({ state: 'failed', attempts: 3, error: { code: 'ECONNREFUSED' } });
    await vendor.start();
  });

  it('is asked about together with the others', async () => {
    await vendorWith();
    const reports = await submit(120);
    expect(reports.every(({ state }) => state === 'succeeded')).toBe(true);
    expect(vendor.ledger.submissions.size).toBe(120);
    expect(vendor.ledger.idsAsked).toBe(240);
    // A hundred at a time; those that were started around a full second come due apart.
    expect(vendor.ledger.statusRequests).toBeLessThanOrEqual(12);
  });

  it('goes to a person when it is rejected, and is not charged', async () => {
    await vendorWith({ decide: () => ({ verdict: 'rejected', reasons: ['the title is too short'] }) });
    expect(await submitOne()).toMatchObject({
      state: 'needs_review',
      reason: 'rejected by the vendor',
      draft: { submissionId: 'sub-1', reasons: ['the title is too short'] },
      usage: [],
    });
  });

  it('that is accepted with remarks has them as warnings', async () => {
    await vendorWith({ decide: () => ({ verdict: 'accepted', reasons: ['no link'] }) });
    expect(await submitOne()).toMatchObject({ state: 'succeeded', result: { warnings: ['no link'] } });
  });

  it('that does not fit fails before it costs anything', async () => {
    await vendorWith();
    const items = [{ id: 'a', input: { ...lamp, currency: 'euros' } }];
    expect(await runPayload(payload, items, { config: { baseUrl: vendor.url } })).toMatchObject([
      { state: 'failed', attempts: 0, error: { code: 'input_invalid', issues: [{ path: 'currency' }] } },
    ]);
    expect(vendor.ledger.submissions.size).toBe(0);
  });
});

describe('a submission', () => {
  it('whose answer is lost is looked up, not made again', async () => {
    await vendorWith({ mood: (nth) => (nth === 1 ? 'drop' : 'ok') });
    const reports = await submit(3);
    expect(reports.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(reports.map(({ attempts }) => attempts).sort()).toEqual([1, 1, 2]);
    expect(reports.map(({ usage }) => usage)).toEqual([USED, USED, USED]);
    expect(vendor.ledger.repeated).toBe(0);
    expect(vendor.ledger.submissions.size).toBe(3);
  });

  it('that broke the vendor is looked up, and made again when it is not there', async () => {
    await vendorWith({ mood: (nth) => (nth === 0 ? 'fail' : 'ok') });
    expect(await submitOne()).toMatchObject({ state: 'succeeded', attempts: 2 });
    expect(vendor.ledger.submissions.size).toBe(1);
  });

  it('of which nobody could find out goes to a person, with its key', async () => {
    await vendorWith({ mood: () => 'fail' });
    const { state, reason, draft } = await submitOne();
    expect({ state, reason }).toEqual({ state: 'needs_review', reason: 'unknown_charge' });
    expect(draft).toMatchObject({ calls: [{ key: expect.any(String) }] });
  });

  it('comes back later, without an attempt, when the vendor asks for patience', async () => {
    await vendorWith({ mood: (nth) => (nth === 0 ? 'refuse' : 'ok'), retryAfter: '90' });
    const first = await submitOne({ attempts: 1 });
    expect(first).toMatchObject({ state: 'deferred', attempts: 0 });
    expect(first.due).toBeGreaterThan(85_000);
    await vendor.stop();
    await vendorWith({ mood: (nth) => (nth === 0 ? 'refuse' : 'ok'), retryAfter: '90' });
    expect(await submitOne()).toMatchObject({ state: 'succeeded', attempts: 1 });
  });

  it('that is not taken fails at once, with a code', async () => {
    await vendorWith();
    expect(await submitOne({ path: '/no-such-api' })).toMatchObject({
      state: 'failed',
      attempts: 1,
      error: { code: 'http_404', message: expect.stringContaining('no such route') },
    });
  });

  it('needs an address: without one nothing is sent, and a worker starts all the same', async () => {
    await vendorWith();
    expect(payload.config.safeParse({}).success).toBe(true);
    expect(await submitOne({ config: {} })).toMatchObject({ state: 'failed', error: { code: 'not_configured' } });
    expect(vendor.ledger.submissions.size).toBe(0);
  });
});

describe('waiting for the verdict', () => {
  it('ends when the submission has expired', async () => {
    await vendorWith({ decidesAfter: Infinity });
    vendor.onPaid = () => {
      for (const submission of vendor.ledger.submissions.values()) submission.expired = true;
    };
    const { state, error } = await submitOne();
    expect({ state, code: error?.code }).toEqual({ state: 'failed', code: 'wait_expired' });
    expect(error?.message).toContain('sub-1');
  });

  it('ends when the vendor goes on not to know the submission', async () => {
    await vendorWith({ decidesAfter: Infinity });
    vendor.onPaid = () => vendor.ledger.submissions.clear();
    expect(await submitOne()).toMatchObject({ state: 'failed', error: { code: 'wait_unknown_id' } });
    // Ten are tolerated: it may just be slow to learn it.
    expect(vendor.ledger.statusRequests).toBe(11);
  });

  it('ends after the longest time, and takes the submission back', async () => {
    await vendorWith({ decidesAfter: Infinity });
    expect(await submitOne({}, { maxWait: '10m' })).toMatchObject({ state: 'failed', error: { code: 'wait_timeout' } });
    expect(vendor.ledger.cancelRequests).toEqual(['sub-1']);
  });

  it('ends for that entry alone when its verdict is not one', async () => {
    const odd = { verdict: 'perhaps' } as never;
    await vendorWith({ decide: ({ id }) => (id === 'sub-1' ? odd : { verdict: 'accepted' }) });
    const reports = await submit(2);
    expect(reports.map(({ error }) => error?.code).sort()).toEqual(['wait_answer_invalid', undefined]);
  });

  it('ends with the job when that is cancelled: the vendor is told', async () => {
    const stop = new AbortController();
    await vendorWith({ decidesAfter: Infinity });
    vendor.onPaid = (nth) => {
      if (nth === 4) stop.abort();
    };
    const reports = await submit(5, { signal: stop.signal });
    expect(reports.map(({ state }) => state)).toEqual(Array(5).fill('skipped'));
    expect(vendor.ledger.cancelRequests.sort()).toEqual(['sub-1', 'sub-2', 'sub-3', 'sub-4', 'sub-5']);
    expect([...vendor.ledger.submissions.values()].every(({ cancelled }) => cancelled)).toBe(true);
  });
});

test('no more are open at the vendor than it is said to take', async () => {
  await vendorWith();
  const open = (): number => [...vendor.ledger.submissions.values()].filter(({ verdict }) => verdict === null).length;
  let most = 0;
  vendor.onPaid = () => (most = Math.max(most, open()));
  const reports = await submit(6, {}, { maxOpen: 2, every: '1s' });
  expect(reports.map(({ state, attempts }) => [state, attempts])).toEqual(Array(6).fill(['succeeded', 1]));
  expect(most).toBe(2);
});

test('a worker may die at any moment: nothing is submitted twice, and every entry has its verdict', async () => {
  await vendorWith({ decide: ({ id }) => ({ verdict: id.endsWith('2') ? 'rejected' : 'accepted' }) });
  const items = ['a', 'b'].map((id) => ({ id, input: { ...lamp, sku: id } }));
  const crashed = await crashPayload(payload, items, {
    config: { baseUrl: vendor.url },
    before: () => vendor.ledger.submissions.clear(),
    booked: () => [...vendor.ledger.submissions.values()].map(({ key }) => key),
  });
  expect(crashed.findings).toEqual([]);
  expect(crashed).toMatchObject({ leftOut: 0, notReached: [], repeats: [] });
  expect(crashed.items.map(({ state }) => state)).toEqual(['succeeded', 'needs_review']);
  expect(crashed.crashPoints.length).toBeGreaterThan(20);
  expect(vendor.ledger.repeated).toBe(0);
});
