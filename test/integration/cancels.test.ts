import { definePayload, z } from '../../contract';
import { seededRandom } from '../../testing/seeded-random';
import { createRig, itemsOf, type Rig } from '../support/rig';

jest.setTimeout(120_000);

const SEED = Number(process.env['SEED'] ?? Date.now() % 100_000);

describe.each(['activity', 'in-process'] as const)('on the %s queue', (queue) => {
  let rig: Rig;
  afterEach(() => rig.stop());

  it(`20 cancels at random moments all end, and their counts add up (SEED=${SEED})`, async () => {
    const luck = seededRandom(SEED);
    const payload = definePayload({
      name: 'test.nap',
      version: 1,
      vocabulary: [],
      input: z.object({ ms: z.number(), fails: z.boolean() }),
      result: z.object({}),
      limits: { backoff: { initial: '1ms' } },
      run: async (item) => {
        await new Promise((resolve) => setTimeout(resolve, item.input.ms));
        if (item.input.fails) throw new Error('not today');
        return {};
      },
    });
    rig = await createRig({ queue, payloads: [payload] });
    const one = async (): Promise<void> => {
      const n = 1 + Math.floor(luck() * 400);
      const delay = luck() * 1_500;
      const { id } = await rig.submit(
        'test.nap',
        itemsOf(n, () => ({ ms: Math.floor(luck() * 40), fails: luck() < 0.1 })),
      );
      await new Promise((resolve) => setTimeout(resolve, delay));
      await rig.post(`/v1/jobs/${id}/cancel`);
      const job = await rig.ended(id);
      const { succeeded, failed, needs_review, skipped, ...open } = job.counts;
      expect(succeeded + failed + needs_review + skipped).toBe(n);
      expect(Object.values(open).every((count) => count === 0)).toBe(true);
      expect(job.state).toBe(skipped > 0 ? 'cancelled' : job.state);
      expect(job.statement!.items).toBe(n);
      expect((await rig.items(id)).every((item) => item.finishedAt !== null)).toBe(true);
    };
    await Promise.all(Array.from({ length: 20 }, one));
  });
});
