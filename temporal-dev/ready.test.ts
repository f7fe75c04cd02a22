import { HOST, pickPort } from './ports';
import { waitUntilReady } from './ready';

describe('waitUntilReady', () => {
  test('says what was waited for when nothing answers', async () => {
    const address = `${HOST}:${await pickPort(0)}`;
    await expect(waitUntilReady(address, 'default', { deadlineMs: 300 })).rejects.toThrow(
      `the Temporal server at ${address} did not answer for namespace default in 0.3 s`,
    );
  });

  test('stops when told to', async () => {
    const address = `${HOST}:${await pickPort(0)}`;
    const waiting = new AbortController();
    const ready = waitUntilReady(address, 'default', { deadlineMs: 60_000, signal: waiting.signal });
    waiting.abort();
    await expect(ready).rejects.toThrow('stopped waiting');
  });
});
