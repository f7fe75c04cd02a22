import type { ErrorInfo, StartedItem } from '../../store';
import { keptLog } from '../fixtures/helpers';
import { Suspects } from './suspects';

const ITEMS: StartedItem[] = [{ jobNo: 1, generation: 1, seq: 1, index: 4 }];
const WHY: ErrorInfo = { code: 'killed', message: 'm' };

describe('suspects', () => {
  /** A store that is away for the first `away` times. */
  function rig(away: number) {
    const { log, lines } = keptLog();
    let [time, opened, closed] = [0, 0, 0];
    const written: unknown[] = [];
    const clock = {
      now: () => time,
      sleep: async (ms: number, signal?: AbortSignal) => {
        await new Promise<void>((resolve) => setImmediate(resolve));
        // The patience of whoever waits: without end here.
        if (signal) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        else time += ms;
      },
    };
    const suspects = new Suspects({
      log,
      clock,
      openStore: async () => {
        if (++opened <= away) throw new Error('away');
        return {
          suspect: async (...args: unknown[]) => written.push(args),
          close: async () => void closed++,
        };
      },
    });
    return { suspects, lines, written, counts: () => ({ opened, closed, time }) };
  }

  it('are written into a store that is opened for them', async () => {
    const { suspects, written, counts, lines } = rig(0);
    suspects.report(ITEMS, WHY);
    await suspects.written(1);
    expect(written).toEqual([[ITEMS, WHY]]);
    expect(counts()).toMatchObject({ opened: 1, closed: 1 });
    expect(lines).toMatchObject([{ level: 'info', started: 1, suspects: 1 }]);
  });

  it('are none when nothing had started', async () => {
    const { suspects, counts } = rig(0);
    suspects.report([], WHY);
    await suspects.written(1);
    expect(counts()).toMatchObject({ opened: 0 });
  });

  it('are written when the store is back', async () => {
    const { suspects, written } = rig(10);
    suspects.report(ITEMS, WHY);
    await suspects.written(1);
    expect(written).toHaveLength(1);
  });

  it('are given up, and named in the log, when it does not come back', async () => {
    const { suspects, written, lines, counts } = rig(Infinity);
    suspects.report(ITEMS, WHY);
    await suspects.written(1);
    expect(written).toEqual([]);
    expect(lines.at(-1)).toMatchObject({ level: 'error', items: ITEMS });
    expect(counts().time).toBeLessThanOrEqual(300_000);
  });
});
