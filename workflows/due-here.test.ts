import { dueHere } from './due-here';

const NOW = 1_000_000_000;
const IN_5_S = 5_000;

describe('when something is due by the clock of the workflow', () => {
  it.each([
    ['ten minutes ahead', 600_000],
    ['ten minutes behind', -600_000],
    ['two seconds behind', -2_000],
    ['a little ahead', 1],
  ])('is as far ahead as the worker says, whose clock is %s', (_, skew) => {
    const at = NOW + skew;
    expect(dueHere({ nextDue: at + IN_5_S, at }, NOW)).toBe(NOW + IN_5_S);
  });

  it('is when the worker says while its answer is only on its way', () => {
    expect(dueHere({ nextDue: NOW + IN_5_S, at: NOW - 300 }, NOW)).toBe(NOW + IN_5_S);
  });

  it('is when an older release says, which did not say when that was', () => {
    expect(dueHere({ nextDue: 7 }, NOW)).toBe(7);
  });

  it('is never when nothing is', () => {
    expect(dueHere({ nextDue: null, at: NOW - 600_000 }, NOW)).toBeNull();
  });
});
