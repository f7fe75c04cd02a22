import { TICKS, TurnCount } from './turn-count';

describe('an event loop', () => {
  const ticks = (count: TurnCount, turns: number, n: number): boolean[] =>
    Array.from({ length: n }, () => count.isBlockedAt(turns));

  it('is blocked when it has not turned for so many ticks', () => {
    const count = new TurnCount();
    count.isBlockedAt(5);
    expect(ticks(count, 5, TICKS)).toEqual([...Array<boolean>(TICKS - 1).fill(false), true]);
  });

  it('is not when it turns now and then', () => {
    const count = new TurnCount();
    for (let turns = 0; turns < 10; turns++) expect(ticks(count, turns, TICKS)).not.toContain(true);
  });

  it('may count beyond what its counter holds', () => {
    const count = new TurnCount();
    ticks(count, 2 ** 31 - 1, TICKS);
    expect(count.isBlockedAt(-(2 ** 31))).toBe(false);
  });
});
