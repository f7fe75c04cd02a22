import fc from 'fast-check';
import { decode, encode, fromIndexes, has, indexes, size, subtract, take, union } from './index-set';

const plain = fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 120 });
const sorted = (list: Iterable<number>): number[] => [...list].sort((a, b) => a - b);

describe('index sets behave like sets of numbers', () => {
  it('under union, subtraction, taking, membership and encoding', () => {
    fc.assert(
      fc.property(plain, plain, fc.nat({ max: 130 }), (a, b, count) => {
        const [setA, setB] = [fromIndexes(a), fromIndexes(b)];
        expect([...indexes(setA)]).toEqual(sorted(a));
        expect(size(setA)).toBe(a.length);
        expect([...indexes(union(setA, setB))]).toEqual(sorted(new Set([...a, ...b])));
        expect([...indexes(subtract(setA, setB))]).toEqual(sorted(a.filter((index) => !b.includes(index))));
        const { taken, rest } = take(setA, count);
        expect([...indexes(taken)]).toEqual(sorted(a).slice(0, count));
        expect([...indexes(rest)]).toEqual(sorted(a).slice(count));
        const few = take(setA, count, 5);
        expect(few.taken).toEqual(taken.slice(0, 10));
        expect(union(few.taken, few.rest)).toEqual(setA);
        for (let index = 0; index <= 401; index++) expect(has(setA, index)).toBe(a.includes(index));
        expect(decode(encode(setA))).toEqual(setA);
      }),
    );
  });

  it('keeps a run of neighbours as one range', () => {
    expect(encode(fromIndexes([5, 3, 4, 9]))).toBe('3+3,3');
    expect(union([0, 5], [5, 9])).toEqual([0, 9]);
  });

  it('refuses a text that is not an encoding', () => {
    expect(() => decode('x+')).toThrow(RangeError);
    expect(() => decode('1,!')).toThrow(RangeError);
  });
});
