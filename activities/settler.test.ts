import { FakeClock } from '../test/support/fake-clock';
import { latch } from '../test/support/latch';
import { StoreUnavailable, type UnitFlush } from '../store';
import { Settler } from './settler';
import { UnitBuffer } from './unit-buffer';

type Settle = (flushes: readonly UnitFlush[]) => Promise<boolean[]>;
const accept: Settle = (flushes) => Promise.resolve(flushes.map(() => true));

function open(settle: Settle) {
  const clock = new FakeClock();
  const calls: UnitFlush[][] = [];
  const log = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const store = {
    settle: (flushes: readonly UnitFlush[]) => {
      calls.push([...flushes]);
      return settle(flushes);
    },
  };
  const settler = new Settler(store, clock, log);
  const unit = (seq: number, ...indexes: number[]): UnitBuffer => {
    const buffer = new UnitBuffer({ jobNo: 1, generation: 1, seq, delivery: 'd' });
    settler.add(buffer);
    for (const index of indexes) end(buffer, index);
    return buffer;
  };
  return { settler, clock, calls, log, unit };
}
const end = (buffer: UnitBuffer, index: number, bytes = 10): void =>
  buffer.settle(index, 'succeeded', 1, { result: index }, bytes);
/** What was offered, as `unit:items`, a text a transaction. */
const shape = (calls: UnitFlush[][]): string[] =>
  calls.map((call) => call.map(({ fence, settled }) => `${fence.seq}:${settled.map((s) => s.index).join()}`).join(' '));

describe('the settler', () => {
  it('writes what many units have buffered in one transaction', async () => {
    const { settler, calls, unit } = open(accept);
    for (let seq = 0; seq < 50; seq++) unit(seq, seq);
    await settler.flush();
    expect(calls).toHaveLength(1);
    expect(calls[0]).toHaveLength(50);
  });

  it('writes every half a second, and only what there is', async () => {
    const { clock, calls, unit } = open(accept);
    const buffer = unit(1, 7);
    unit(2);
    await clock.advance(500);
    expect(shape(calls)).toEqual(['1:7']);
    await clock.advance(5_000);
    expect(calls).toHaveLength(1);
    buffer.ask();
    await clock.advance(500);
    expect(shape(calls)).toEqual(['1:7', '1:']);
  });

  it('has what arrives during a transaction wait for the next, of which there is one', async () => {
    const gate = latch();
    const { settler, calls, unit } = open((flushes) => gate.promise.then(() => accept(flushes)));
    const [one, two] = [unit(1, 1), unit(2)];
    const first = settler.flush();
    end(one, 2);
    const second = settler.flush();
    end(two, 3);
    const third = settler.flush();
    gate.open();
    await first;
    expect(shape(calls)[0]).toBe('1:1');
    await Promise.all([second, third]);
    expect(shape(calls)).toEqual(['1:1', '1:2 2:3']);
  });

  it('cuts what is much into transactions of about 4 MB, of one unit or of many', async () => {
    const { settler, calls, unit } = open(accept);
    const one = unit(1);
    for (let index = 0; index < 5; index++) end(one, index, 1_500_000);
    for (let seq = 2; seq <= 4; seq++) end(unit(seq), 0, 3_000_000);
    end(unit(5), 0, 9_000_000);
    one.close();
    await settler.flush();
    expect(shape(calls)).toEqual(['1:0,1', '1:2,3', '1:4', '2:0', '3:0', '4:0', '5:0']);
    expect(calls.flat().filter((flush) => flush.close)).toMatchObject([{ settled: [{ index: 4 }] }]);
  });

  it('puts usage, lines and parkings with the first piece, and the close with the last', async () => {
    const { settler, calls, unit } = open(accept);
    const buffer = unit(1);
    end(buffer, 0, 3_000_000);
    end(buffer, 1, 3_000_000);
    buffer.meter({ itemId: 'a', key: 'k', name: 'n', quantity: 1 });
    buffer.write({ level: 'info', source: 'payload', message: 'm' });
    buffer.park(
      2,
      'retry',
      5,
      { attempts: 1, deferrals: 0, deferredSince: null, returns: 0 },
      { code: 'c', message: 'm' },
    );
    buffer.close();
    await settler.flush();
    const counts = calls.flat().map((f) => [f.usage.length, f.log.length, f.parked.length, f.close]);
    expect(counts).toEqual([
      [1, 1, 1, false],
      [0, 0, 0, true],
    ]);
    expect(buffer.isEmpty).toBe(true);
    expect(buffer.nextDue).toBe(5);
  });

  it('marks a unit that the fence refused, and no other', async () => {
    const { settler, unit } = open((flushes) => Promise.resolve(flushes.map(({ fence }) => fence.seq !== 2)));
    const units = [unit(1, 1), unit(2, 2), unit(3, 3)];
    await settler.flush();
    expect(units.map((buffer) => buffer.refused)).toEqual([false, true, false]);
  });
});

describe('a store that is away', () => {
  it('has all that was buffered kept, with what came since, and written once when it is back', async () => {
    let away = true;
    const { settler, clock, calls, unit, log } = open((flushes) =>
      away ? Promise.reject(new StoreUnavailable('away')) : accept(flushes),
    );
    const [one, two] = [unit(1, 1), unit(2, 2)];
    await expect(settler.flush()).rejects.toThrow('away');
    end(one, 3);
    await clock.advance(500);
    expect(log.warn).toHaveBeenCalledTimes(2);
    away = false;
    end(two, 4);
    calls.length = 0;
    await settler.flush();
    await settler.flush();
    await clock.advance(1_000);
    expect(shape(calls)).toEqual(['1:1 2:2 1:3 2:4']);
  });

  it('has what a unit used written when it is back, even if the unit is gone', async () => {
    let away = true;
    const { settler, calls, unit } = open((flushes) =>
      away ? Promise.reject(new StoreUnavailable('away')) : accept(flushes),
    );
    const buffer = unit(1);
    await settler.flush();
    buffer.meter({ itemId: 'a', key: 'k', name: 'n', quantity: 1 });
    settler.remove(buffer);
    await expect(settler.flush()).rejects.toThrow('away');
    away = false;
    calls.length = 0;
    await settler.flush();
    expect(calls).toMatchObject([[{ usage: [{ name: 'n' }] }]]);
  });
});

describe('a flush that cannot be stored', () => {
  it('is written alone and given up, and the others are stored', async () => {
    const { settler, calls, unit, log } = open((flushes) =>
      flushes.some(({ fence }) => fence.seq === 2) ? Promise.reject(new TypeError('no such text')) : accept(flushes),
    );
    const units = [unit(1, 1), unit(2, 2), unit(3, 3)];
    await settler.flush();
    expect(shape(calls)).toEqual(['1:1 2:2 3:3', '1:1', '2:2', '3:3']);
    expect(units.map((buffer) => buffer.failure !== undefined)).toEqual([false, true, false]);
    expect(log.error).toHaveBeenCalledTimes(1);
    await settler.flush();
    expect(calls).toHaveLength(4);
  });
});

it('no timer runs without a unit', () => {
  const { settler, clock, unit } = open(accept);
  const buffer = unit(1);
  expect(clock.ticking).toBe(1);
  settler.remove(buffer);
  expect(clock.ticking).toBe(0);
});
