import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { call, ended, get, json, post, bodyOf, submit } from '../../api/fixtures/http';
import { openTestApi, type TestApi } from '../../api/fixtures/test-api';
import { deepHealthSchema, healthSchema, itemsPageSchema, jobSchema, jobsPageSchema } from '../../api/schemas';
import { loadConfig } from '../../config';
import type { JobQueue } from '../../queue';
import { openTemporalQueue, type Runtime } from '../../runtime';
import { scripted } from '../support/payloads';
import { createRig, itemsOf, until } from '../support/rig';

/** A port that nobody listens at. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function queueOnClosedPort(): Promise<JobQueue> {
  const config = loadConfig({ TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}` });
  return openTemporalQueue({ config, store: { id: '0f8fad5b-d9cb-469f-a165-70867728950e' } } as Runtime);
}

/**
 * Stops when the start of the job is given up: a client of Temporal that is closed while it tries again throws where
 * nobody can catch it.
 */
async function stopAll(api: TestApi, queue: JobQueue): Promise<void> {
  await until(api.store, () => api.log.some((line) => line.includes('not started yet')), 'the start is given up');
  await api.stop();
  await queue.close();
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const at = performance.now();
  const result = await work();
  return { ms: performance.now() - at, result };
}

/** A call of Temporal that gets no answer ends about then: its deadline, and what the client's own retries add to it. */
const GIVES_UP_MS = 5_000;

describe('with Temporal down', () => {
  it('takes submits, answers reads, and is not ready', async () => {
    const queue = await queueOnClosedPort();
    const api = await openTestApi({ queue });
    const { ms, result } = await timed(() => submit(api.url, itemsOf(3)));
    expect(ms).toBeLessThan(2_000);
    expect(result).toMatchObject({ state: 'accepted', counts: { pending: 3 } });
    expect(await get(api.url, `/v1/jobs/${result.id}`, jobSchema)).toEqual(result);
    expect((await get(api.url, '/v1/jobs', jobsPageSchema)).jobs).toEqual([result]);
    expect((await get(api.url, `/v1/jobs/${result.id}/items`, itemsPageSchema)).items).toHaveLength(3);
    expect(await get(api.url, '/health/live', healthSchema)).toMatchObject({ status: 'ok' });
    const ready = await timed(() => call(api.url, '/health/ready'));
    expect(json(ready.result, healthSchema, 503).problems).toEqual([expect.stringMatching(/^the queue: /)]);
    expect(ready.ms).toBeLessThan(GIVES_UP_MS);
    json(await call(api.url, '/health/deep'), deepHealthSchema, 503);
    await stopAll(api, queue);
  });

  it.each([
    ['a worker is alive', true],
    ['no worker is alive', false],
  ])('ends a job that was never started at once when it is cancelled, where %s', async (_, alive) => {
    const queue = await queueOnClosedPort();
    const api = await openTestApi({ queue });
    const row = {
      id: 'w',
      pool: 'main',
      capabilities: [],
      ceilings: {},
      memoryMb: 1,
      loopDelayMs: 0,
      startedAt: Date.now(),
    };
    if (alive) await api.store.beat(row);
    const { id } = await submit(api.url, itemsOf(1_500));
    const { ms, result } = await timed(() => call(api.url, `/v1/jobs/${id}/cancel`, { method: 'POST' }));
    expect(ms).toBeLessThan(GIVES_UP_MS + 1_000);
    expect(json(result, jobSchema)).toMatchObject({
      state: 'cancelled',
      counts: { pending: 0, skipped: 1_500 },
      cancel: { by: 'local' },
      statement: { outcomes: { skipped: 1_500 } },
    });
    await stopAll(api, queue);
  });
});

/** A wire to the server that can be cut. */
class Wire {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  port = 0;

  async open(): Promise<void> {
    const [host, port] = process.env['TEST_TEMPORAL_ADDRESS']!.split(':');
    this.server = createServer((near) => {
      const far = connect(Number(port), host);
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => [near, far].forEach((end) => end.destroy()));
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => this.server!.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.server!.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
    await closed;
  }
}

it('starts what was submitted while Temporal was away, once it is back', async () => {
  const wire = new Wire();
  await wire.open();
  const env = { TEMPORAL_ADDRESS: `127.0.0.1:${wire.port}` };
  const rig = await createRig({ queue: 'activity', payloads: [scripted().payload], env });
  const ready = async (): Promise<boolean> => (await call(rig.url, '/health/ready')).status === 200;
  await ended(rig.url, (await submit(rig.url, itemsOf(1))).id);

  await wire.cut();
  const { ms, result } = await timed(() => post(rig.url, bodyOf(itemsOf(3))));
  const { id } = json(result, jobSchema, 202);
  expect(ms).toBeLessThan(2_000);
  const { id: unwanted } = await submit(rig.url, itemsOf(2));
  expect(await ready()).toBe(false);
  expect(json(await call(rig.url, `/v1/jobs/${unwanted}/cancel`, { method: 'POST' }), jobSchema)).toMatchObject({
    state: 'cancelled',
    counts: { skipped: 2 },
  });

  await wire.open();
  await until(rig.store, ready, 'it is ready again');
  expect(await ended(rig.url, id)).toMatchObject({ state: 'succeeded', statement: { attempts: 3 } });
  expect(await get(rig.url, `/v1/jobs/${unwanted}`, jobSchema)).toMatchObject({ state: 'cancelled' });
  await rig.stop();
  await wire.cut();
}, 120_000);
