import { definePayload, z, type Payload } from '../../contract';
import { gated, scripted } from '../../test/support/payloads';
import { call, ended, get, json, problem, submit, JSON_TYPE, type Answer } from '../fixtures/http';
import { openTestApi, type TestApi } from '../fixtures/test-api';
import { deadLetterDetailSchema, deadLettersPageSchema, retriedSchema } from '../lineage-schemas';
import { deepHealthSchema, type JobJson } from '../schemas';

/** A payload that pays, fails after that as often as it is told to, and counts what the vendor was asked. */
function paying() {
  const sent: string[] = [];
  const unanswered = new Set<string>();
  let broken = true;
  const payload: Payload = definePayload({
    name: 'test.paying',
    version: 1,
    vocabulary: [],
    input: z.object({ to: z.string().optional() }),
    result: z.string(),
    limits: { maxAttempts: 2, backoff: { initial: '1ms' } },
    run: async (item, ctx) => {
      const paid = await ctx.vendor('acme').call('charge', async ({ key }) => {
        sent.push(item.id);
        if (unanswered.has(item.id)) throw new Error('the answer was lost');
        return Promise.resolve(key);
      });
      ctx.meter('charges', 1, { key: 'charge' });
      if (broken) throw Object.assign(new Error('it broke after it paid'), { code: 'broken' });
      return paid;
    },
  });
  return { payload, sent, unanswered, mend: () => void (broken = false) };
}

let api: TestApi;
let vendor: ReturnType<typeof paying>;
const gate = gated();
beforeEach(async () => {
  vendor = paying();
  api = await openTestApi({ payloads: [scripted().payload, vendor.payload, gate.payload], worker: true });
});
afterEach(() => api.stop());

const send = (path: string, body?: object, headers = {}): Promise<Answer> =>
  call(api.url, path, {
    method: 'POST',
    headers: { ...(body && JSON_TYPE), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
const retry = async (job: JobJson, body?: object) =>
  json(await send(`/v1/jobs/${job.id}/retry`, body), retriedSchema, 202);

async function run(capability: string, items: object[]): Promise<JobJson> {
  return ended(api.url, (await submit(api.url, items, { capability })).id);
}

async function results(job: JobJson, query = ''): Promise<{ id: string; state: string; job?: string }[]> {
  const { text } = await call(api.url, `/v1/jobs/${job.id}/results${query}`, { method: 'GET' });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { id: string; state: string; job?: string });
}

const MIXED = [
  { id: 'good', input: {} },
  { id: 'dies', input: { acts: ['fail'] } },
  { id: 'hopeless', input: { acts: ['reject'] } },
  { id: 'odd', input: { acts: ['review'] } },
];

describe('a retry', () => {
  it('runs what failed again without paying twice, and the lineage has the newest outcomes', async () => {
    const first = await run('test.paying@1', [
      { id: 'a', input: {} },
      { id: 'b', input: {} },
    ]);
    expect(first).toMatchObject({ state: 'failed', statement: { vendorCalls: { made: 2 }, usage: { charges: 2 } } });
    vendor.mend();
    const second = await retry(first);
    expect(second).toMatchObject({ retryOf: first.id, items: 2, leftOut: { openCalls: 0, retriedSince: 0 } });
    expect(await ended(api.url, second.id)).toMatchObject({
      state: 'succeeded',
      statement: { vendorCalls: { made: 0 } },
    });
    expect(vendor.sent.sort()).toEqual(['a', 'b']);
    expect(await results(first)).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
    for (const job of [first, second]) {
      expect(await results(job, '?lineage=all')).toMatchObject([
        { id: 'a', state: 'succeeded', job: second.id },
        { id: 'b', state: 'succeeded', job: second.id },
      ]);
    }
  });

  it('leaves out an item whose paid call has no answer, unless it is told what to do about it', async () => {
    vendor.unanswered.add('lost');
    const first = await run('test.paying@1', [{ id: 'lost', input: {} }]);
    expect(first.counts).toMatchObject({ needs_review: 1 });
    const refused = problem(await send(`/v1/jobs/${first.id}/retry`, { outcome: 'needs_review' }), 'not_retryable');
    expect(refused).toMatchObject({ status: 422, why: 'nothing_left', leftOut: { openCalls: 1 } });
    vendor.mend();
    const asked = await retry(first, { outcome: 'needs_review', openCalls: 'look_up' });
    expect((await ended(api.url, asked.id)).counts).toMatchObject({ needs_review: 1 });
    expect(vendor.sent).toEqual(['lost']);
    vendor.unanswered.clear();
    const sent = await retry(asked, { items: ['lost'], openCalls: 'send_again' });
    expect((await ended(api.url, sent.id)).counts).toMatchObject({ succeeded: 1 });
    expect(vendor.sent).toEqual(['lost', 'lost']);
  });

  it('is refused while the job runs, and names it', async () => {
    const job = await submit(api.url, [{ id: 'a', input: {} }], { capability: 'test.gate@1' });
    const refused = problem(await send(`/v1/jobs/${job.id}/retry`), 'job_not_terminal');
    expect(refused).toMatchObject({ status: 409, job: job.id });
    gate.open();
    await ended(api.url, job.id);
    expect(problem(await send(`/v1/jobs/${job.id}/retry`), 'not_retryable').detail).toContain('no item is left');
  });

  it('takes labels, options and one way to choose', async () => {
    const first = await ended(
      api.url,
      (await submit(api.url, MIXED, { capability: 'test.script@1', labels: { a: '1', b: '2' } })).id,
    );
    const second = await retry(first, { items: ['odd'], labels: { b: '3' }, options: { maxAttempts: 1 } });
    expect(second).toMatchObject({ items: 1, labels: { a: '1', b: '3' } });
    await ended(api.url, second.id);
    for (const body of [{ items: ['odd'], outcome: 'failed' }, { item: ['odd'] }, { items: [] }, { openCalls: 'x' }])
      problem(await send(`/v1/jobs/${first.id}/retry`, body), 'invalid_request');
    const unknown = problem(await send(`/v1/jobs/${first.id}/retry`, { items: ['odd', 'nobody'] }), 'not_retryable');
    expect(unknown).toMatchObject({ why: 'unknown_items', items: ['nobody'] });
    problem(await send(`/v1/jobs/${first.id}/retry`, { items: ['good'] }), 'not_retryable');
    problem(await send('/v1/jobs/job-none/retry'), 'job_not_found');
  });

  it('refuses a body that is no JSON, or too large, or of another type', async () => {
    const path = '/v1/jobs/job-none/retry';
    const of = (body: string, type = 'application/json') =>
      call(api.url, path, { method: 'POST', headers: { 'content-type': type }, body });
    problem(await of('{"items":'), 'invalid_json');
    problem(await of('{}', 'text/plain'), 'unsupported_media_type');
    problem(await of(`{"items":["${'x'.repeat(21_000_000)}"]}`), 'body_too_large');
  });

  it('is made once for one idempotency key', async () => {
    const first = await run('test.script@1', MIXED);
    const headers = { 'idempotency-key': 'again' };
    const one = json(await send(`/v1/jobs/${first.id}/retry`, {}, headers), retriedSchema, 202);
    const two = json(await send(`/v1/jobs/${first.id}/retry`, {}, headers), retriedSchema, 202);
    expect(two).toMatchObject({ id: one.id, leftOut: null });
    problem(await send(`/v1/jobs/${first.id}/retry`, { outcome: 'failed' }, headers), 'idempotency_conflict');
  });
});

describe('a dead letter', () => {
  const list = async (query = '') =>
    (await get(api.url, `/v1/dead-letters${query}`, deadLettersPageSchema)).deadLetters;

  it('is an item that the runner gave up on, not one that was refused; it is listed, shown, counted and replayed', async () => {
    const job = await run('test.script@1', MIXED);
    const [letter, ...others] = await list();
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ job: job.id, item: 'dies', attempts: 3, error: { code: 'boom' }, replayedBy: null });
    expect(await get(api.url, `/v1/dead-letters/${letter!.id}`, deadLetterDetailSchema)).toMatchObject({
      ...letter,
      ...{ input: { acts: ['fail'] }, params: {}, openCalls: [] },
    });
    const health = async () => get(api.url, '/health/deep', deepHealthSchema);
    expect(await health()).toMatchObject({
      deadLetters: 1,
      warnings: expect.arrayContaining([expect.stringContaining('1 dead letter')]),
    });
    const replay = json(await send(`/v1/dead-letters/${letter!.id}/replay`), retriedSchema, 202);
    expect(replay).toMatchObject({ retryOf: job.id, items: 1 });
    await ended(api.url, replay.id);
    expect((await list('?replayed=true')).map((one) => one.replayedBy)).toEqual([replay.id]);
    expect(await list('?replayed=false')).toMatchObject([{ job: replay.id, item: 'dies' }]);
    expect(await list(`?job=${job.id}&code=boom&capability=test.script@1&limit=1`)).toHaveLength(1);
    problem(await send(`/v1/dead-letters/${letter!.id}/replay`), 'not_retryable');
  });

  it('is not there under an id that was never given out', async () => {
    for (const id of ['0', '17', 'x', '1e3', '9'.repeat(30)]) {
      problem(await call(api.url, `/v1/dead-letters/${id}`, { method: 'GET' }), 'dead_letter_not_found');
      problem(await send(`/v1/dead-letters/${id}/replay`), 'dead_letter_not_found');
    }
    problem(await call(api.url, '/v1/dead-letters?job=nope', { method: 'GET' }), 'job_not_found');
    problem(await call(api.url, '/v1/dead-letters?after=x', { method: 'GET' }), 'invalid_cursor');
  });
});
