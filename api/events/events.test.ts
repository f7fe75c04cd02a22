import { StoreUnavailable, type Store } from '../../store';
import { until } from '../../test/support/rig';
import { outline } from '../fixtures/event-reader';
import { eachWithEvents, isState } from '../fixtures/event-world';
import { call, problem } from '../fixtures/http';

const world = eachWithEvents();

describe('what streams cost', () => {
  /** Counts reads by name. */
  function counting(reads: Map<string, number>): (store: Store) => Store {
    const count = (name: string): void => void reads.set(name, (reads.get(name) ?? 0) + 1);
    return (store) => ({
      ...store,
      glance: (nos) => (count('glance'), store.glance(nos)),
      jobByNo: (no) => (count('jobByNo'), store.jobByNo(no)),
      counts: (job) => (count('counts'), store.counts(job)),
      log: (no, page) => (count('log'), store.log(no, page)),
    });
  }

  it('a hundred readers of a job read the store as one does', async () => {
    const reads = new Map<string, number>();
    await world.open({ wrapStore: counting(reads) });
    const id = await world.submitTwo();
    const all = await Promise.all(Array.from({ length: 100 }, () => world.read(id, { query: '?log=true' })));
    for (const reader of all) await reader.find(isState('expanding'));
    reads.clear();
    await world.note(id, 'news');
    for (const reader of all) await reader.find(({ data }) => data['message'] === 'news');
    await world.cancel(id);
    for (const reader of all) {
      await reader.ended;
      expect(outline(reader.events).slice(-3)).toEqual(['state cancelling', 'state cancelled', 'end cancelled']);
    }
    expect(reads.get('log')).toBeLessThanOrEqual(8);
    expect(reads.get('counts')).toBeLessThanOrEqual(6);
    expect(reads.get('jobByNo')).toBeLessThanOrEqual(6);
  });

  it('nobody is left listening to the store when the readers are gone', async () => {
    let listeners = 0;
    await world.open({
      wrapStore: (store) => ({
        ...store,
        onChange: (listener) => {
          const stop = store.onChange(listener);
          listeners++;
          return () => {
            listeners--;
            stop();
          };
        },
      }),
    });
    const id = await world.submitTwo();
    const [a, b] = [await world.read(id), await world.read(id)];
    await a.find(isState('expanding'));
    expect(listeners).toBe(1);
    a.destroy();
    b.destroy();
    await until(world.api.store, () => listeners === 0, 'nobody listens');
    // And it begins anew.
    const again = await world.read(id);
    await world.cancel(id);
    await again.ended;
    await until(world.api.store, () => listeners === 0, 'nobody listens');
  });
});

describe('trouble', () => {
  it('a job that is deleted under its readers is said to be', async () => {
    let hide = false;
    await world.open({
      wrapStore: (store) => ({
        ...store,
        // As it looks to a process that did not see the end before the job was deleted.
        glance: async (nos) => (hide ? [] : store.glance(nos)),
      }),
    });
    const watched = await world.submitTwo();
    const reader = await world.read(watched);
    await reader.find(isState('expanding'));
    hide = true;
    await world.note(watched, 'wakes the watcher');
    await reader.ended;
    expect(reader.events.at(-1)).toMatchObject({ event: 'deleted', data: { id: watched } });
  });

  it('streams outlive a store that is away, and go on when it is back', async () => {
    let away = false;
    const gone = (): Promise<never> => Promise.reject(new StoreUnavailable('the disk is gone'));
    await world.open({
      wrapStore: (store) => ({
        ...store,
        glance: (nos) => (away ? gone() : store.glance(nos)),
        log: (no, page) => (away ? gone() : store.log(no, page)),
      }),
    });
    const id = await world.submitTwo();
    const reader = await world.read(id);
    await reader.find(isState('expanding'));
    away = true;
    await world.cancel(id);
    await until(
      world.api.store,
      () => world.api.log.some((line) => line.includes('cannot read the jobs')),
      'it is away',
    );
    problem(
      await call(world.api.url, `/v1/jobs/${id}/events`, { headers: { 'last-event-id': '1' } }),
      'store_unavailable',
    );
    away = false;
    await reader.ended;
    expect(outline(reader.events).slice(-2)).toEqual(['state cancelled', 'end cancelled']);
  });

  it('ends at once when the API stops, and goes on at the next one', async () => {
    await world.open();
    const id = await world.submitTwo();
    const reader = await world.read(id);
    const { id: lastEventId } = await reader.find(isState('expanding'));
    const at = performance.now();
    await world.api.stopApi();
    await reader.ended;
    expect(performance.now() - at).toBeLessThan(1_000);
    expect(outline(reader.events)).not.toContain('end');
    const next = await world.read(id, { lastEventId: lastEventId! }, await world.api.second());
    await world.cancel(id);
    await next.ended;
    expect(outline(next.events)).toEqual(['job expanding', 'state cancelling', 'state cancelled', 'end cancelled']);
  });
});
