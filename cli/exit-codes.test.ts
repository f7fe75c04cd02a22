import { EXIT, exitCodeOf, exitCodesHelp } from './exit-codes';
import { CliError, Interrupted, toFailure, Unreachable, UsageError } from './failure';

describe('exit codes', () => {
  test('each has a line in the help', () => {
    for (const code of Object.values(EXIT)) expect(exitCodesHelp()).toMatch(new RegExp(`^ +${code}  \\S`, 'm'));
  });

  test.each([
    ['succeeded', 0],
    ['completed_with_errors', 3],
    ['failed', 3],
    ['cancelled', 4],
  ] as const)('a job that ended as %s: %d', (state, code) => expect(exitCodeOf(state)).toBe(code));
});

describe('failures', () => {
  const named = (name: string): Error => Object.assign(new Error('why'), { name });

  test.each([
    [new UsageError('why'), 2],
    [new Unreachable('why'), 5],
    [new Interrupted('why'), 130],
    [new CliError('why', 4), 4],
    [named('ConfigError'), 2],
    [named('TemporalUnavailable'), 5],
    [new TypeError('why'), 1],
    ['why', 1],
  ])('%s: %d', (error, exitCode) => expect(toFailure(error)).toEqual({ message: 'why', exitCode }));
});
