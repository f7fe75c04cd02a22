import type { Connection } from '@temporalio/client';
import { registerSearchAttributes, SEARCH_ATTRIBUTES } from './search-attributes';

const ALL = Object.keys(SEARCH_ATTRIBUTES);
const KEYWORD = 2;
const TEXT = 1;

interface Fake {
  /** What each listing shows; the last one again and again. */
  listings: Record<string, number>[];
  add?: () => void;
}

function fakeConnection({ listings, add }: Fake): { connection: Connection; added: Record<string, number>[] } {
  const added: Record<string, number>[] = [];
  let next = 0;
  const operatorService = {
    listSearchAttributes: async () => ({ customAttributes: listings[Math.min(next++, listings.length - 1)] }),
    addSearchAttributes: async (request: { searchAttributes: Record<string, number> }) => {
      added.push(request.searchAttributes);
      add?.();
    },
  };
  const withDeadline = (_: number, fn: () => Promise<unknown>): Promise<unknown> => fn();
  return { connection: { operatorService, withDeadline } as unknown as Connection, added };
}

const all = (type: number): Record<string, number> => Object.fromEntries(ALL.map((name) => [name, type]));
const register = (connection: Connection, deadlineMs = 20_000): ReturnType<typeof registerSearchAttributes> =>
  registerSearchAttributes(connection, 'default', { deadlineMs });

describe('registerSearchAttributes', () => {
  test('adds nothing when all are there', async () => {
    const { connection, added } = fakeConnection({ listings: [{ ...all(KEYWORD), Other: TEXT }] });
    expect(await register(connection)).toEqual({ ok: true });
    expect(added).toEqual([]);
  });

  test('adds what is missing, and waits until it shows', async () => {
    const before = { ItemwiseState: KEYWORD };
    const { connection, added } = fakeConnection({ listings: [before, before, before, all(KEYWORD)] });
    expect(await register(connection)).toEqual({ ok: true });
    expect(added).toEqual([{ ItemwiseCapability: KEYWORD, ItemwiseTenant: KEYWORD }]);
  });

  test('another that registers them at the same time is no failure', async () => {
    const add = (): never => {
      throw Object.assign(new Error('6 ALREADY_EXISTS'), { code: 6 });
    };
    expect(await register(fakeConnection({ listings: [{}, all(KEYWORD)], add }).connection)).toEqual({ ok: true });
  });

  test('a refusal is a reason', async () => {
    const add = (): never => {
      throw Object.assign(new Error('7 PERMISSION_DENIED: not yours'), { code: 7 });
    };
    const result = await register(fakeConnection({ listings: [{}], add }).connection);
    expect(result).toEqual({ ok: false, reason: '7 PERMISSION_DENIED: not yours' });
  });

  test('another type under the name is a reason', async () => {
    const result = await register(fakeConnection({ listings: [all(TEXT)] }).connection);
    expect(result).toEqual({ ok: false, reason: `${ALL.join(', ')} exists, but is no Keyword` });
  });

  test('not shown at the deadline is a reason', async () => {
    const result = await register(fakeConnection({ listings: [{}] }).connection, 150);
    expect(result).toEqual({ ok: false, reason: `${ALL.join(', ')} not shown in 150 ms` });
  });
});
