import { EXIT } from '../exit-codes';
import { STOP_SIGNALS } from '../session';
import type { Dev } from './start-dev';

/**
 * Starts something and keeps it up until Ctrl-C, SIGTERM or SIGHUP, which stop it in order; a second one ends it at
 * once. While it starts, the first one ends this process, and with it what was begun.
 * @param options.whenUp what is done with it; `stopping` is aborted at the first signal. It is stopped when this fails.
 */
export async function untilStopped(
  start: () => Promise<Dev>,
  options: { whenUp: (dev: Dev, stopping: AbortSignal) => Promise<void>; say: (line: string) => void },
): Promise<void> {
  const stopping = new AbortController();
  let onSignal = (): void => process.exit(EXIT.interrupted);
  const listener = (): void => onSignal();
  for (const signal of STOP_SIGNALS) process.on(signal, listener);
  try {
    const dev = await start();
    onSignal = () => {
      onSignal = () => {
        dev.kill();
        process.exit(EXIT.interrupted);
      };
      options.say('Stopping; again to stop at once.');
      stopping.abort();
      void dev.stop();
    };
    try {
      await options.whenUp(dev, stopping.signal);
    } catch (error) {
      await dev.stop();
      throw error;
    }
    await dev.done;
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, listener);
  }
}
