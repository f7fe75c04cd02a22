import { FakeClock } from '../test/support/fake-clock';
import { latch } from '../test/support/latch';
import { CancelWatch } from './cancel-watch';

function open(cancelling: (jobNos: readonly number[]) => Promise<number[]>) {
  const clock = new FakeClock();
  const listeners = new Set<() => void>();
  const store = {
    cancelling: jest.fn(cancelling),
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const log = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const change = (): void => listeners.forEach((listener) => listener());
  return { watch: new CancelWatch(store, clock, log), clock, store, log, listeners, change };
}

it('asks once for all jobs that run here, and tells each watcher of those being cancelled', async () => {
  const { watch, store } = open(() => Promise.resolve([1]));
  const told = { one: jest.fn(), alsoOne: jest.fn(), two: jest.fn() };
  watch.watch(1, told.one);
  watch.watch(1, told.alsoOne);
  watch.watch(2, told.two);
  await watch.look();
  expect(store.cancelling.mock.calls).toEqual([[[1, 2]]]);
  expect([told.one, told.alsoOne, told.two].map((spy) => spy.mock.calls.length)).toEqual([1, 1, 0]);
});

it('looks every second by itself, and within 150 ms of a change, but not more often than every 100 ms', async () => {
  const { watch, clock, store, change } = open(() => Promise.resolve([]));
  watch.watch(1, () => undefined);
  await clock.advance(50);
  store.cancelling.mockClear();
  await clock.advance(5_000);
  expect(store.cancelling).toHaveBeenCalledTimes(5);
  store.cancelling.mockClear();
  change();
  await clock.advance(150);
  expect(store.cancelling).toHaveBeenCalledTimes(1);
  store.cancelling.mockClear();
  for (let i = 0; i < 100; i++) {
    change();
    await clock.advance(10);
  }
  expect(store.cancelling.mock.calls.length).toBeLessThanOrEqual(10);
});

it('goes on when the store does not answer, and looks again when it does', async () => {
  let away = true;
  const { watch, clock, log } = open(() => (away ? Promise.reject(new Error('away')) : Promise.resolve([1])));
  const told = jest.fn();
  watch.watch(1, told);
  await clock.advance(1_100);
  expect(log.warn).toHaveBeenCalled();
  away = false;
  await clock.advance(1_000);
  expect(told).toHaveBeenCalled();
});

it('does not ask while it is asking', async () => {
  const gate = latch();
  const { watch, store } = open(() => gate.promise.then(() => []));
  watch.watch(1, () => undefined);
  const looking = watch.look();
  await watch.look();
  expect(store.cancelling).toHaveBeenCalledTimes(1);
  gate.open();
  await looking;
});

it('tells nobody who has stopped, and listens to nothing when nobody is left', async () => {
  const { watch, clock, listeners } = open(() => Promise.resolve([1]));
  const [one, two] = [jest.fn(), jest.fn()];
  const stops = [watch.watch(1, one), watch.watch(1, two)];
  expect([clock.ticking, listeners.size]).toEqual([1, 1]);
  stops[0]!();
  await watch.look();
  expect([one.mock.calls.length, two.mock.calls.length]).toEqual([0, 1]);
  stops[1]!();
  expect([clock.ticking, listeners.size]).toEqual([0, 0]);
  watch.watch(2, one);
  expect([clock.ticking, listeners.size]).toEqual([1, 1]);
});
