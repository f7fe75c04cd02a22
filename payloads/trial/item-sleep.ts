import { setTimeout } from 'node:timers/promises';
import { definePayload, z } from '../../contract';

const MAX_SLEEP_MS = 600_000;

/** Takes as long as its input says, so that one can watch a job, cancel it, or kill a worker under it. */
export const itemSleep = definePayload({
  name: 'item.sleep',
  version: 1,
  description: 'Sleeps for the milliseconds in its input.',
  vocabulary: [],
  input: z.object({ ms: z.int().min(0).max(MAX_SLEEP_MS) }),
  result: z.object({ sleptMs: z.int() }),
  limits: { itemTimeout: MAX_SLEEP_MS + 10_000 },
  async run({ input: { ms } }, { signal }) {
    await setTimeout(ms, undefined, { signal }).catch((error: unknown) => {
      // The timer rejects with an AbortError of its own; the reason is what the caller knows.
      throw signal.aborted ? signal.reason : error;
    });
    return { sleptMs: ms };
  },
});
