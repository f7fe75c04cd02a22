import { untouchable } from '../test/support/thrown';
import type { Log } from './deps';
import { MAX_LINE, lineText, plainFields, safeLog } from './safe-log';

function listening(): { log: Log; lines: [object, string][] } {
  const lines: [object, string][] = [];
  const write = (fields: object, message: string): void => void lines.push([fields, message]);
  return { log: { debug: write, info: write, warn: write, error: write }, lines };
}

describe('a log that takes whatever it is given', () => {
  it('shows an error as it is stored, and cuts what is long', () => {
    const { log, lines } = listening();
    const err = Object.assign(new Error('m'.repeat(9_000)), { code: 'boom', secret: 'x' });
    safeLog(log).warn({ err, text: 't'.repeat(9_000), list: Array(9_000).fill(1) }, 'l'.repeat(9_000));
    const [[fields, message]] = lines as [[Record<string, unknown>, string]];
    expect(message).toHaveLength(MAX_LINE);
    expect(fields).toEqual({
      err: { code: 'boom', message: expect.stringMatching(/^m{2000}…/), stack: expect.stringContaining('at ') },
      text: 't'.repeat(MAX_LINE),
      list: expect.stringMatching(/^\[1,1/),
    });
    expect(String(fields['list'])).toHaveLength(MAX_LINE);
  });

  it('leaves plain fields as they are', () => {
    const fields = { job: 'j', n: 1, ok: true, none: null, fence: { seq: 1 }, missing: undefined };
    expect(plainFields(fields)).toEqual(fields);
  });

  it('names what cannot be shown, and never throws', () => {
    const cycle: Record<string, unknown> = {};
    cycle['cycle'] = cycle;
    expect(plainFields({ err: untouchable(), odd: untouchable(), cycle, big: 1n, f: () => 1 })).toMatchObject({
      err: { message: 'a value that cannot be shown was thrown' },
      odd: '(cannot be shown)',
      cycle: '(cannot be shown)',
      big: '1',
    });
    expect(plainFields(untouchable())).toEqual({ fields: '(cannot be shown)' });
    expect(plainFields(null)).toEqual({});
    expect(lineText(Object.create(null))).toBe('(cannot be shown)');
  });

  it('keeps the failure of the logger itself to itself', () => {
    const broken = (): never => {
      throw new Error('the disk is full');
    };
    const log = safeLog({ debug: broken, info: broken, warn: broken, error: broken });
    expect(() => log.error({}, 'x')).not.toThrow();
  });
});
