import assert from 'node:assert/strict';
import { seededRandom } from '../../../testing/seeded-random';
import type { Scenario } from '../chaos';

/** Of paid calls, how many are done and not answered; a twentieth is refused besides, and one in fifty fails. */
const DROPPED = 0.15;

export const vendorDrops: Scenario = {
  name: 'a vendor accepts and drops the answer',
  about: 'it does 15 % of what it is asked and breaks the connection off instead of answering, and refuses some more',
  run: async (chaos) => {
    const luck = seededRandom(chaos.between(1, 1_000_000));
    let dropped = 0;
    await chaos.open({
      vendor: {
        mood: () => {
          const draw = luck();
          if (draw < DROPPED) dropped++;
          return draw < DROPPED ? 'drop' : draw < DROPPED + 0.05 ? 'refuse' : draw < DROPPED + 0.07 ? 'fail' : 'ok';
        },
      },
    });
    await chaos.service.startWorker();
    const id = await chaos.submitOrders(chaos.sized(100, 2_000), [0, 200]);
    const job = await chaos.service.ended(id, 300_000);
    const { succeeded, needs_review: review } = job.counts;
    assert(succeeded > 0.9 * job.items, `${succeeded} of ${job.items} succeeded`);
    return { faults: dropped, jobs: [id], note: `${review} need review` };
  },
};
