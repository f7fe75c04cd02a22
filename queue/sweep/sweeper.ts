import { systemClock, type Clock, type Log } from '../../activities';
import type { Lifecycle } from '../lifecycle';
import { sweep } from './sweep';

export interface SweeperOptions {
  /** Who holds the lease while sweeping. */
  readonly holder: string;
  readonly everyMs: number;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Pick<Clock, 'every'>;
}

/** Sweeps every now and then, in whichever process has the lease. Returns how to stop; resolves when it has. */
export function startSweeper(lifecycle: Lifecycle, options: SweeperOptions): () => Promise<void> {
  const { holder, everyMs, log, clock = systemClock } = options;
  let running: Promise<void> | undefined;
  const once = async (): Promise<void> => {
    try {
      // The lease outlives the interval a little, so that it stays with one holder while that one is well.
      if (await lifecycle.store.lease('sweep', holder, everyMs * 1.5)) await sweep(lifecycle, log);
    } catch (error) {
      log.warn({ err: error }, 'the sweep failed; it comes again');
    }
  };
  const tick = (): void => {
    running ??= once().finally(() => {
      running = undefined;
    });
  };
  const stopTicking = clock.every(everyMs, tick);
  tick();
  return async () => {
    stopTicking();
    await running;
  };
}
