import fc from 'fast-check';
import { toErrorInfo, toIssues } from './error-info';

const size = (info: unknown): number => JSON.stringify(info).length;

describe('anything thrown, as an ErrorInfo', () => {
  it('keeps the message, a usable code, where it came from and why', () => {
    const cause = new Error('the socket was closed', { cause: 'reset by peer' });
    const error = Object.assign(new Error('no answer', { cause }), { code: 'ECONNRESET' });
    const info = toErrorInfo(error);
    expect(info).toMatchObject({
      code: 'ECONNRESET',
      message: 'no answer',
      causes: ['the socket was closed', 'reset by peer'],
    });
    expect(info.stack).toMatch(/^ {4}at .*error-info\.test\.ts/);
    expect(info.stack).not.toContain('no answer');
  });

  it('has the code it is given rather than its own', () => {
    expect(toErrorInfo(Object.assign(new Error('x'), { code: 'own' }), 'given').code).toBe('given');
  });

  it.each([42, 'two words', '', '1st', 'x'.repeat(65), null, undefined, {}])('has the code `error` for %j', (code) => {
    expect(toErrorInfo(Object.assign(new Error('x'), { code })).code).toBe('error');
  });

  it.each(['E_1', 'http_500', 'a.b:c-d', 'x'.repeat(64)])('keeps the code %s', (code) => {
    expect(toErrorInfo({ message: 'x', code }).code).toBe(code);
  });

  it('says how much of a text is cut off', () => {
    expect(toErrorInfo('m'.repeat(2_001)).message).toBe(`${'m'.repeat(2_000)}… (1 characters more)`);
    expect(toErrorInfo('m'.repeat(2_000)).message).toBe('m'.repeat(2_000));
  });

  it('follows five causes, and a cyclic chain once round', () => {
    let error = new Error('9');
    for (let i = 8; i >= 0; i--) error = new Error(String(i), { cause: error });
    expect(toErrorInfo(error).causes).toEqual(['1', '2', '3', '4', '5']);
    const round = new Error('round');
    Object.assign(round, { cause: round });
    expect(toErrorInfo(round).causes).toBeUndefined();
  });

  it('is bounded and can be stored, whatever it is', () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true, withObjectString: true });
    fc.assert(
      fc.property(anything, fc.boolean(), (value, wrapped) => {
        const info = toErrorInfo(wrapped ? Object.assign(new Error('x'), { cause: value, code: value }) : value);
        expect(typeof info.message).toBe('string');
        expect(info.code).toMatch(/^[A-Za-z][\w.:-]{0,63}$/);
        expect(size(info)).toBeLessThan(20_000);
      }),
    );
  });

  it('is bounded when every part of it is large', () => {
    const large = 'x'.repeat(1_000_000);
    const causes = Array.from({ length: 50 }).reduce((cause: unknown) => new Error(large, { cause }), undefined);
    const error = Object.assign(new Error(large, { cause: causes }), { stack: `Error\n    at ${large}`, code: large });
    expect(size(toErrorInfo(error))).toBeLessThan(12_000);
  });
});

describe('a value that does not fit its schema', () => {
  it('has the path of each misfit, twenty of them at the most', () => {
    const issues = Array.from({ length: 30 }, (_, i) => ({ path: ['rows', i, Symbol('s')], message: 'not a number' }));
    const info = toIssues('input_invalid', 'no fit', [{ path: [], message: 'too large' }, ...issues]);
    expect(info.issues).toHaveLength(20);
    expect(info.issues!.slice(0, 2)).toEqual([
      { path: '(the value itself)', message: 'too large' },
      { path: 'rows.0.Symbol(s)', message: 'not a number' },
    ]);
  });

  it('is bounded when the paths and messages are large', () => {
    const large = 'x'.repeat(1_000_000);
    const issues = Array.from({ length: 30 }, () => ({ path: [large], message: large }));
    expect(size(toIssues('c', 'm', issues))).toBeLessThan(25_000);
  });
});
