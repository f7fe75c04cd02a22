import { gated, scripted } from '../../test/support/payloads';
import { itemsOf, until } from '../../test/support/rig';
import { call, ended, get, json, problem, submit } from '../fixtures/http';
import { openTestApi, type TestApi } from '../fixtures/test-api';
import { jobSchema, jobsPageSchema, logPageSchema, type JobJson } from '../schemas';

const GATE = { capability: 'test.gate@1' };

let gate: ReturnType<typeof gated>;
let api: TestApi;
beforeEach(async () => {
  gate = gated();
  api = await openTestApi({ payloads: [scripted().payload, gate.payload], worker: true });
});
afterEach(async () => {
  gate.open();
  await api.stop();
});

const post = async (path: string) => call(api.url, path, { method: 'POST' });

async function running(items = 1): Promise<JobJson> {
  const { id } = await submit(api.url, itemsOf(items), GATE);
  const state = async (): Promise<string> => (await get(api.url, `/v1/jobs/${id}`, jobSchema)).state;
  await until(api.store, async () => gate.started.length === items && (await state()) === 'running', 'the job runs');
  return get(api.url, `/v1/jobs/${id}`, jobSchema);
}

describe('a job', () => {
  it('is shown as it is sealed, runs and ends', async () => {
    const sealed = await submit(api.url, itemsOf(2), { ...GATE, labels: { shop: 'north' } });
    expect(sealed).toMatchObject({
      capability: 'test.gate@1',
      state: 'accepted',
      items: 2,
      counts: { pending: 2, running: 0, succeeded: 0 },
      labels: { shop: 'north' },
      startedAt: null,
      finishedAt: null,
      temporal: { workflowId: sealed.id, url: null },
    });
    gate.open();
    const job = await ended(api.url, sealed.id);
    expect(job).toMatchObject({
      state: 'succeeded',
      counts: { pending: 0, succeeded: 2 },
      statement: { items: 2, attempts: 2 },
    });
    expect(Date.parse(job.createdAt)).toBeLessThanOrEqual(Date.parse(job.startedAt!));
    expect(Date.parse(job.startedAt!)).toBeLessThanOrEqual(Date.parse(job.finishedAt!));
  });

  it('takes a bare name for the newest version', async () => {
    expect(await submit(api.url, itemsOf(1), { capability: 'test.script' })).toMatchObject({
      capability: 'test.script@1',
    });
  });

  it('is not there under an id that was never given out', async () => {
    for (const id of ['job-x', 'JOB', '1', '%00', encodeURIComponent("' or 1=1 --")])
      problem(await call(api.url, `/v1/jobs/${id}`), 'job_not_found');
  });

  it.each([
    'GET /items',
    'GET /items/a',
    'GET /results',
    'GET /log',
    'POST /cancel',
    'POST /pause',
    'POST /resume',
    'DELETE ',
  ])('that is not there answers %s with job_not_found', async (route) => {
    const [method, path] = route.split(' ') as [string, string];
    problem(await call(api.url, `/v1/jobs/job-x${path}`, { method }), 'job_not_found');
  });
});

describe('cancel, pause and resume', () => {
  it('cancels once, however often it is asked', async () => {
    const { id } = await running(2);
    const first = json(await post(`/v1/jobs/${id}/cancel`), jobSchema);
    expect(first.cancel).toMatchObject({ by: 'local' });
    const again = json(await post(`/v1/jobs/${id}/cancel`), jobSchema);
    const asked = ({ cancel }: typeof first) => ({ at: cancel?.at, by: cancel?.by, running: cancel?.running });
    expect(asked(again)).toEqual(asked(first));
    const job = await ended(api.url, id);
    const late = json(await post(`/v1/jobs/${id}/cancel`), jobSchema);
    expect(late).toEqual(job);
  });

  it('leaves a job that has ended as it is', async () => {
    const { id } = await submit(api.url, itemsOf(1));
    const job = await ended(api.url, id);
    expect(json(await post(`/v1/jobs/${id}/cancel`), jobSchema)).toEqual(job);
    problem(await post(`/v1/jobs/${id}/pause`), 'not_possible_now');
    problem(await post(`/v1/jobs/${id}/resume`), 'not_possible_now');
  });

  it('pauses and resumes, each any number of times', async () => {
    const { id } = await running();
    for (let time = 0; time < 2; time++)
      expect(json(await post(`/v1/jobs/${id}/pause`), jobSchema)).toMatchObject({ state: 'paused' });
    for (let time = 0; time < 2; time++)
      expect(json(await post(`/v1/jobs/${id}/resume`), jobSchema)).toMatchObject({ state: 'running' });
    gate.open();
    expect(await ended(api.url, id)).toMatchObject({ state: 'succeeded' });
  });

  it('writes what was asked for into the log of the job', async () => {
    const { id } = await running();
    await post(`/v1/jobs/${id}/pause`);
    await post(`/v1/jobs/${id}/cancel`);
    const first = await get(api.url, `/v1/jobs/${id}/log?limit=1`, logPageSchema);
    expect(first.lines).toMatchObject([{ level: 'info', source: 'runner', state: 'accepted', itemId: null }]);
    const rest = await get(api.url, `/v1/jobs/${id}/log?after=${first.next}`, logPageSchema);
    const asked = rest.lines.filter(({ message }) => message.endsWith(' requested'));
    expect(asked).toMatchObject([
      { message: 'pause requested', state: 'paused' },
      { message: 'cancel requested', state: 'cancelling' },
    ]);
    expect(rest.next).toBeNull();
  });
});

describe('delete', () => {
  it('is refused while the job is open, paused or being cancelled', async () => {
    const { id } = await running();
    const remove = () => call(api.url, `/v1/jobs/${id}`, { method: 'DELETE' });
    problem(await remove(), 'job_not_terminal');
    await post(`/v1/jobs/${id}/pause`);
    problem(await remove(), 'job_not_terminal');
    expect(await get(api.url, `/v1/jobs/${id}`, jobSchema)).toMatchObject({ id });
  });

  it('takes the job out of sight at once, and its rows with the next sweep', async () => {
    const { id } = await submit(api.url, itemsOf(3), { labels: { shop: 'north' } }, { 'idempotency-key': 'k' });
    await ended(api.url, id);
    const { no } = (await api.store.job(id, 'default'))!;
    const answer = await call(api.url, `/v1/jobs/${id}`, { method: 'DELETE' });
    expect([answer.status, answer.text]).toEqual([204, '']);
    for (const path of ['', '/items', '/items/i0', '/results', '/log'])
      problem(await call(api.url, `/v1/jobs/${id}${path}`), 'job_not_found');
    problem(await call(api.url, `/v1/jobs/${id}`, { method: 'DELETE' }), 'job_not_found');
    for (const query of ['', '?label=shop:north'])
      expect((await get(api.url, `/v1/jobs${query}`, jobsPageSchema)).jobs).toEqual([]);
    const rows = async (): Promise<number> =>
      (await api.store.inputs(no, [0, 10])).length + (await api.store.log(no, { after: 0, limit: 10 })).length;
    await until(api.store, async () => (await rows()) === 0, 'the rows are gone');
    expect(await api.store.brokenUploads(Number.MAX_SAFE_INTEGER)).toEqual([]);
    // Its idempotency key is free again.
    expect((await submit(api.url, itemsOf(3), {}, { 'idempotency-key': 'k' })).id).not.toBe(id);
  });
});
