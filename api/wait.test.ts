import { until } from '../test/support/rig';
import { JSON_TYPE, call, get, json, openRequest, problem, submit, type OpenRequest } from './fixtures/http';
import { openTestApi, type TestApi } from './fixtures/test-api';
import { jobSchema } from './schemas';

/** How many are listening to the store's changes. */
let listeners = 0;
let api: TestApi;
let id: string;
beforeEach(async () => {
  listeners = 0;
  api = await openTestApi({
    wrapStore: (store) => ({
      ...store,
      onChange: (listener) => {
        const stop = store.onChange(listener);
        listeners++;
        return () => {
          listeners--;
          stop();
        };
      },
    }),
  });
  id = (await submit(api.url, [{ id: 'a', input: {} }])).id;
});
afterEach(() => api.stop());

function poll(seconds: number): OpenRequest {
  const request = openRequest(api.url, `/v1/jobs/${id}?wait=${seconds}`, { method: 'GET' });
  request.end();
  return request;
}

async function endJob(): Promise<void> {
  const { no } = (await api.store.job(id, 'default'))!;
  await api.store.endCancelled(no);
  await api.store.finalize(no, 0);
}

it('answers at once when the job has ended', async () => {
  await endJob();
  expect(await get(api.url, `/v1/jobs/${id}?wait=60`, jobSchema)).toMatchObject({ state: 'cancelled' });
  expect(listeners).toBe(0);
});

it('answers within 300 ms of the end', async () => {
  const waiting = poll(60);
  await until(api.store, () => listeners === 1, 'it is waiting');
  await endJob();
  const at = performance.now();
  expect(json(await waiting.answer, jobSchema)).toMatchObject({ state: 'cancelled' });
  expect(performance.now() - at).toBeLessThan(300);
  expect(listeners).toBe(0);
});

it('answers all of 100 that wait', async () => {
  const polls = Array.from({ length: 100 }, () => poll(60));
  await until(api.store, () => listeners === 100, 'all are waiting');
  await endJob();
  for (const request of polls) expect(json(await request.answer, jobSchema)).toMatchObject({ state: 'cancelled' });
  expect(listeners).toBe(0);
});

it('answers within 300 ms of an end that another process wrote', async () => {
  const other = await api.second();
  const waiting = poll(60);
  await until(api.store, () => listeners === 1, 'it is waiting');
  // Nobody works here, so a cancel closes the job before it is answered.
  await call(other, `/v1/jobs/${id}/cancel`, { method: 'POST', headers: JSON_TYPE });
  const at = performance.now();
  expect(json(await waiting.answer, jobSchema)).toMatchObject({ state: 'cancelled', counts: { skipped: 1 } });
  expect(performance.now() - at).toBeLessThan(300);
});

it('answers with the job as it is when the time is over, whatever else is written meanwhile', async () => {
  const at = performance.now();
  const waiting = poll(1);
  await until(api.store, () => listeners === 1, 'it is waiting');
  await submit(api.url, [{ id: 'a', input: {} }]);
  expect(json(await waiting.answer, jobSchema)).toMatchObject({ id, finishedAt: null });
  const ms = performance.now() - at;
  expect(ms).toBeGreaterThanOrEqual(990);
  expect(ms).toBeLessThan(2_000);
  expect(listeners).toBe(0);
});

it('ends when the client goes away', async () => {
  const waiting = poll(60);
  await until(api.store, () => listeners === 1, 'it is waiting');
  waiting.destroy();
  await expect(waiting.answer).rejects.toThrow();
  await until(api.store, () => listeners === 0, 'nobody is waiting');
});

it('ends at once when the server stops, which then has nothing to wait for', async () => {
  const waiting = poll(60);
  await until(api.store, () => listeners === 1, 'it is waiting');
  const at = performance.now();
  const stopped = api.stopApi();
  expect(json(await waiting.answer, jobSchema)).toMatchObject({ id, finishedAt: null });
  await stopped;
  expect(performance.now() - at).toBeLessThan(1_000);
});

it.each(['61', '-1', '0.5', 'soon', 'NaN', '1&wait=2'])('refuses to wait for %s seconds', async (seconds) => {
  const answer = await call(api.url, `/v1/jobs/${id}?wait=${seconds}`);
  expect(problem(answer, 'invalid_request').issues).toMatchObject([{ path: 'wait' }]);
});
