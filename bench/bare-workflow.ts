import { proxyActivities } from '@temporalio/workflow';

const { echo } = proxyActivities<{ echo(n: number): Promise<boolean> }>({ startToCloseTimeout: '1 minute' });

/** What a team writes first: one activity an item, `window` of them at once. */
export async function bare(items: number, window: number): Promise<number> {
  let next = 0;
  let done = 0;
  const lane = async (): Promise<void> => {
    while (next < items) {
      await echo(next++);
      done++;
    }
  };
  await Promise.all(Array.from({ length: Math.min(window, items) }, lane));
  return done;
}
