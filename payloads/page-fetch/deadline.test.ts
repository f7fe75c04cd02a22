import { withDeadline } from './deadline';

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('broken stream'))));

test('passes on what the work gives, and its errors', async () => {
  const { signal } = new AbortController();
  expect(await withDeadline(signal, 60_000, async () => 7)).toBe(7);
  await expect(withDeadline(signal, 60_000, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
});

test('out of time is an error with code timeout', async () => {
  await expect(withDeadline(new AbortController().signal, 1, untilAborted)).rejects.toMatchObject({
    code: 'timeout',
    message: 'not done within 1 ms',
  });
});

test('the reason of the outer signal is rethrown as it is, before and during the work', async () => {
  const outer = new AbortController();
  const reason = { cancelled: true };
  const pending = withDeadline(outer.signal, 60_000, untilAborted);
  outer.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect(withDeadline(outer.signal, 60_000, untilAborted)).rejects.toBe(reason);
});
