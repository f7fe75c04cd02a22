import type { Store } from '../../../store';
import { UNIT, eachWithStore, ended, fence, flush, linesOf, submit, type Open } from './kit';

export function changesConformance(open: Open): void {
  describe('notice of writes', () => {
    const world = eachWithStore(open);

    /** Resolves when the store next calls a listener. */
    const nextCall = (store: Store): Promise<void> =>
      new Promise((resolve) => {
        const stop = store.onChange(() => {
          stop();
          resolve();
        });
      });

    it('calls for writes of its own', async () => {
      const { store } = world;
      const job = await submit(store, 2);
      let calls = 0;
      store.onChange(() => calls++);
      const writes = [
        () => store.openUnit(fence(job, 1), UNIT),
        () => store.settle([flush(fence(job, 1), { settled: ended('succeeded', [0, 1]) })]),
        () => store.requestCancel(job.no, 'ann'),
        () => store.finalize(job.no, 0),
      ];
      for (const write of writes) {
        const called = nextCall(store);
        await write();
        await called;
      }
      expect(calls).toBeGreaterThanOrEqual(writes.length);
    });

    it('calls for writes of another connection, again and again', async () => {
      const { store } = world;
      const other = await world.reopen();
      const job = await submit(store, 1);
      for (let i = 0; i < 3; i++) {
        const called = nextCall(store);
        await other.appendLog(job.no, { level: 'info', source: 'runner', message: `line ${i}` });
        await called;
        expect(await linesOf(store, job)).toHaveLength(i + 1);
      }
    });

    it('calls every listener, and none that has gone', async () => {
      const { store } = world;
      const job = await submit(store, 1);
      const called: string[] = [];
      const stop = store.onChange(() => called.push('gone'));
      store.onChange(() => called.push('one'));
      const last = new Promise<void>((resolve) => {
        store.onChange(() => {
          called.push('two');
          resolve();
        });
      });
      stop();
      stop();
      await store.touch(job.no);
      await last;
      expect(new Set(called)).toEqual(new Set(['one', 'two']));
    });
  });
}
