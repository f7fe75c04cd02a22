import type { Context } from '../../contract';
import { runPayload } from '../../testing';
import { itemSleep } from './item-sleep';

test('sleeps as long as it is told', async () => {
  const started = performance.now();
  const [report] = await runPayload(itemSleep, [{ id: 'a', input: { ms: 20 } }]);
  expect(report).toMatchObject({ state: 'succeeded', result: { sleptMs: 20 } });
  // A timer may fire up to a millisecond early.
  expect(performance.now() - started).toBeGreaterThanOrEqual(19);
});

test('an abort ends it with its reason, before and during the sleep', async () => {
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const sleep = (): unknown =>
    itemSleep.run?.({ id: 'a', input: { ms: 600_000 } }, { signal: controller.signal } as Context);
  const pending = sleep();
  controller.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect(sleep()).rejects.toBe(reason);
});

test.each([-1, 600_001, 1.5, '5', null])('%j ms is refused', async (ms) => {
  expect(await runPayload(itemSleep, [{ id: 'a', input: { ms } }])).toMatchObject([
    { state: 'failed', attempts: 0, error: { code: 'input_invalid', issues: [{ path: 'ms' }] } },
  ]);
});
