import { call, ended, get, json, post, problem, submit, bodyOf } from '../../api/fixtures/http';
import {
  deepHealthSchema,
  healthSchema,
  itemsPageSchema,
  itemViewSchema,
  jobSchema,
  jobsPageSchema,
} from '../../api/schemas';
import { isTerminal } from '../../model/states';
import { gated, scripted } from '../support/payloads';
import { createRig, itemsOf, until, type Rig } from '../support/rig';

jest.setTimeout(60_000);

/** The HTTP surface over a real Temporal server; what does not depend on the queue is tested beside the API. */
const GATE = { capability: 'test.gate' };
let gate: ReturnType<typeof gated>;
let rig: Rig;
beforeAll(async () => {
  gate = gated();
  const env = { TEMPORAL_UI_URL: 'http://127.0.0.1:1234' };
  rig = await createRig({ queue: 'activity', payloads: [scripted().payload, gate.payload], env });
});
afterAll(async () => {
  gate.open();
  await rig.stop();
});

it('is ready, and shows its worker', async () => {
  expect(await get(rig.url, '/health/ready', healthSchema)).toEqual({ status: 'ok', problems: [] });
  const { workers, status } = await get(rig.url, '/health/deep', deepHealthSchema);
  expect(status).toBe('ok');
  expect(workers).toMatchObject([{ capabilities: ['test.gate@1', 'test.script@1'] }]);
});

it('links a job to its workflow', async () => {
  const job = await submit(rig.url, itemsOf(1));
  expect(job.temporal).toEqual({
    workflowId: job.id,
    url: `http://127.0.0.1:1234/namespaces/default/workflows/${job.id}`,
  });
  await ended(rig.url, job.id);
});

it('answers a long poll within 300 ms of the end that the store shows', async () => {
  const { id } = await submit(rig.url, itemsOf(500));
  const polled = get(rig.url, `/v1/jobs/${id}?wait=60`, jobSchema).then((job) => ({ job, at: performance.now() }));
  const over = async (): Promise<boolean> => isTerminal((await rig.store.job(id, 'default'))!.state);
  await until(rig.store, over, 'the store shows the end');
  const shown = performance.now();
  const { job, at } = await polled;
  expect(job).toMatchObject({ state: 'succeeded', counts: { succeeded: 500 } });
  expect(at - shown).toBeLessThan(300);
});

it('makes one job of 20 submits of the same body and key at once', async () => {
  const headers = { 'idempotency-key': 'twenty' };
  const send = () => post(rig.url, bodyOf(itemsOf(3), { labels: { test: 'twenty' } }), headers);
  const answers = await Promise.all(Array.from({ length: 20 }, send));
  const ids = new Set(answers.map((answer) => json(answer, jobSchema, 202).id));
  expect(ids.size).toBe(1);
  const [id] = [...ids];
  expect(await ended(rig.url, id!)).toMatchObject({ statement: { items: 3, attempts: 3 } });
  expect((await get(rig.url, '/v1/jobs?label=test:twenty', jobsPageSchema)).jobs).toHaveLength(1);
});

it('pages through the items and streams the results of a job of 5,000', async () => {
  const acts = (index: number): object => ({ acts: [index % 10 === 3 ? 'reject' : 'ok'] });
  const { id } = await submit(rig.url, itemsOf(5_000, acts));
  expect(await ended(rig.url, id)).toMatchObject({
    state: 'completed_with_errors',
    counts: { succeeded: 4_500, failed: 500 },
  });
  const seen: number[] = [];
  for (let after: string | null = ''; after !== null;) {
    const query: string = after === '' ? '' : `&after=${after}`;
    const page = await get(rig.url, `/v1/jobs/${id}/items?outcome=failed&limit=150${query}`, itemsPageSchema);
    seen.push(...page.items.map((item) => item.index));
    after = page.next;
  }
  expect(seen).toEqual(Array.from({ length: 500 }, (_, index) => index * 10 + 3));
  const { text } = await call(rig.url, `/v1/jobs/${id}/results`);
  const lines = text.split('\n').slice(0, -1);
  expect(lines.map((line) => itemViewSchema.parse(JSON.parse(line)).index)).toEqual(lines.map((_, index) => index));
  expect(lines).toHaveLength(5_000);
});

it('cancels a running job, deletes it only then, and shows it nowhere after', async () => {
  const { id } = await submit(rig.url, itemsOf(30), GATE);
  await until(rig.store, () => gate.started.length >= 10, 'some items run');
  problem(await call(rig.url, `/v1/jobs/${id}`, { method: 'DELETE' }), 'job_not_terminal');
  const receipt = json(await call(rig.url, `/v1/jobs/${id}/cancel`, { method: 'POST' }), jobSchema);
  expect(receipt.cancel).toMatchObject({ by: 'local' });
  expect(await ended(rig.url, id)).toMatchObject({ state: 'cancelled', counts: { pending: 0, running: 0 } });
  const { no } = (await rig.store.job(id, 'default'))!;
  expect((await call(rig.url, `/v1/jobs/${id}`, { method: 'DELETE' })).status).toBe(204);
  for (const path of ['', '/items', '/items/i0', '/results', '/log'])
    problem(await call(rig.url, `/v1/jobs/${id}${path}`), 'job_not_found');
  await until(rig.store, async () => (await rig.store.inputs(no, [0, 30])).length === 0, 'the rows are gone');
});
