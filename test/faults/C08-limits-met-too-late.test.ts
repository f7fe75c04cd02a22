import type { Activities } from '../../activities';
import type { ItemJson } from '../../api';
import { payloadOf } from '../support/payload-of';
import { createRig, itemsOf, until, type Rig } from '../support/rig';
import { latch } from '../support/latch';

jest.setTimeout(60_000);

const KB = 1_000;

/** Most that may travel through the queue for one unit, bytes: Temporal warns at 256 KB and refuses at 2 MB. */
const TRAVELS = 2 * KB;

/** The largest thing that a unit took in or gave back, and what its heartbeats carried. */
class Wire {
  units = 0;
  largest = 0;
  heartbeats: unknown[][] = [];

  readonly wrap = (activities: Activities): Activities => ({
    ...activities,
    runUnit: async (input, delivery) => {
      this.units++;
      const heartbeat = (...details: unknown[]): void => {
        this.heartbeats.push(details);
        delivery.heartbeat();
      };
      const answer = await activities.runUnit(input, { ...delivery, heartbeat });
      this.largest = Math.max(this.largest, JSON.stringify(input).length, JSON.stringify(answer).length);
      return answer;
    },
  });
}

let rig: Rig;
afterEach(() => rig.stop());

async function open(payload: ReturnType<typeof payloadOf>, env: Record<string, string> = {}): Promise<Wire> {
  const wire = new Wire();
  rig = await createRig({ queue: 'in-process', payloads: [payload], wrap: wire.wrap, env });
  return wire;
}

describe('C08: limits that are met too late', () => {
  it('C08: results of 1.9, 2.1 and 5 MB fail once, naming the limit; those beside them do not', async () => {
    let runs = 0;
    const wire = await open(
      payloadOf<number>(async (item) => {
        runs++;
        return 'x'.repeat(item.input);
      }),
    );
    const sizes = [100 * KB, 990 * KB, 1_900 * KB, 2_100 * KB, 5_000 * KB];
    const { id } = await rig.submit(
      'test.run',
      itemsOf(sizes.length, (i) => sizes[i]!),
    );
    const job = await rig.ended(id);
    expect(job).toMatchObject({
      state: 'completed_with_errors',
      counts: { succeeded: 2, failed: 3 },
      statement: { attempts: 5 },
    });
    for (const item of (await rig.items(id)).slice(2)) {
      expect(item).toMatchObject({ attempts: 1, error: { code: 'result_too_large' } });
      expect(item.error!.message).toMatch(/^the result is \d+ bytes of JSON, over the limit of 1000000$/);
    }
    expect(runs).toBe(5);
    expect(wire.units).toBe(1);
    expect(wire.largest).toBeLessThan(TRAVELS);
  });

  it('C08: 200 results of 100 KB that finish together are all stored, and none of it travels through the queue', async () => {
    const [all, together] = [latch(), 200];
    let running = 0;
    const wire = await open(
      payloadOf(
        async () => {
          if (++running === together) all.open();
          await all.promise;
          return 'x'.repeat(100 * KB);
        },
        { limits: { concurrency: together } },
      ),
    );
    const { id } = await rig.submit('test.run', itemsOf(together));
    const job = await rig.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', statement: { attempts: together } });
    expect(running).toBe(together);
    expect(wire.units).toBeLessThanOrEqual(20);
    expect(wire.largest).toBeLessThan(TRAVELS);
    const { body } = await fetch(`${rig.url}/v1/jobs/${id}/results`);
    let bytes = 0;
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.byteLength;
    expect(bytes).toBeGreaterThan(together * 100 * KB);
  });

  it('C08: progress, lines and usage of any size are cut or refused when they are said; heartbeats carry nothing', async () => {
    const said = latch();
    const goOn = latch();
    const huge = 'n'.repeat(5_000 * KB);
    const wire = await open(
      payloadOf(async (_, ctx) => {
        ctx.progress(1, 2, huge);
        ctx.log.info(huge, { huge });
        ctx.meter(huge, 1, { key: 'a' });
        ctx.meter('calls', 1, { key: huge });
        ctx.meter('calls', 1, { key: 'b' });
        said.open();
        await goOn.promise;
        return 'done';
      }),
      { ITEMWISE_HEARTBEAT_TIMEOUT: '1s' },
    );
    const { id } = await rig.submit('test.run', itemsOf(1));
    await said.promise;
    const running = await shown(id, (item) => item.progress !== undefined);
    expect(running.progress).toEqual({ done: 1, total: 2, note: 'n'.repeat(200) });
    await shown(id, () => wire.heartbeats.length > 0);
    goOn.open();
    const job = await rig.ended(id);
    expect(job).toMatchObject({ state: 'succeeded', statement: { attempts: 1, usage: { calls: 1 } } });
    expect(wire.heartbeats.flat()).toEqual([]);
    expect(wire.largest).toBeLessThan(TRAVELS);
    const log = await (await fetch(`${rig.url}/v1/jobs/${id}/log`)).text();
    expect(log.length).toBeLessThan(10 * KB);
  });
});

/** The item when `holds` does. */
async function shown(job: string, holds: (item: ItemJson) => boolean): Promise<ItemJson> {
  let item!: ItemJson;
  await until(rig.store, async () => holds(([item] = (await rig.items(job)) as [ItemJson])[0]), 'the item shows it');
  return item;
}
