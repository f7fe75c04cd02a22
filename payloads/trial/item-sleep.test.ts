import type { Context } from '../../contract';
import { itemSleep } from './item-sleep';

const sleep = (ms: number, signal: AbortSignal): unknown =>
  itemSleep.run?.({ id: 'a', input: { ms } }, { signal } as Context);

test('sleeps as long as it is told', async () => {
  const started = performance.now();
  expect(await sleep(20, new AbortController().signal)).toEqual({ sleptMs: 20 });
  // A timer may fire up to a millisecond early.
  expect(performance.now() - started).toBeGreaterThanOrEqual(19);
});

test('an abort ends it with its reason, before and during the sleep', async () => {
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const pending = sleep(600_000, controller.signal);
  controller.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect(sleep(600_000, controller.signal)).rejects.toBe(reason);
});

test.each([-1, 600_001, 1.5, '5', undefined])('%j ms is refused', (ms) => {
  expect(itemSleep.input.safeParse({ ms }).success).toBe(false);
});
