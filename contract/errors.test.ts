import { Defer, Reject, findDefer, findReject, isReview, review } from '.';

class Hopeless extends Reject {}

describe('a Reject', () => {
  it('is an Error with a code, a message and a cause', () => {
    const cause = new Error('why');
    expect(new Reject('no', { code: 'bad_row', cause })).toMatchObject({ message: 'no', code: 'bad_row', cause });
    expect(new Reject('no')).toMatchObject({ name: 'Reject', code: 'rejected' });
    expect(new Reject('no')).toBeInstanceOf(Error);
    expect(new Reject('no')).not.toHaveProperty('cause');
  });

  it.each([
    ['itself', new Reject('no')],
    ['a subclass', new Hopeless('no')],
    ['a cause', new Error('wrapped', { cause: new Reject('no') })],
    ['the cause of a plain object', { cause: { cause: new Reject('no') } }],
  ])('is found as %s', (_, error) => {
    expect(findReject(error)).toBeInstanceOf(Reject);
    expect(findDefer(error)).toBeUndefined();
  });

  it.each([undefined, null, 'Reject', 42, new Error('Reject'), { name: 'Reject', code: 'x' }])(
    'is not found in %p',
    (value) => {
      expect(findReject(value)).toBeUndefined();
    },
  );

  it('is looked for along a chain of causes that may be long or cyclic', () => {
    const cyclic = new Error('round');
    Object.assign(cyclic, { cause: cyclic });
    expect(findReject(cyclic)).toBeUndefined();
    let deep: unknown = new Reject('no');
    for (let i = 0; i < 500; i++) deep = new Error('layer', { cause: deep });
    expect(findReject(deep)).toBeUndefined();
  });
});

describe('a Defer', () => {
  it('says when', () => {
    const until = new Date();
    expect(new Defer('later', { until })).toMatchObject({ name: 'Defer', message: 'later', when: { until } });
    expect(findDefer(new Error('wrapped', { cause: new Defer('later', { after: 5 }) }))).toMatchObject({
      when: { after: 5 },
    });
  });

  it('around a Reject is both: the runner asks for the Reject first', () => {
    const both = Object.assign(new Defer('later', { after: 5 }), { cause: new Reject('no') });
    expect([findReject(both), findDefer(both)]).toEqual([both.cause, both]);
  });
});

describe('a review', () => {
  it('has a reason, and a draft if it was given one', () => {
    expect(isReview(review('look'))).toBe(true);
    expect(review('look')).not.toHaveProperty('draft');
    expect(review('look', null)).toMatchObject({ reason: 'look', draft: null });
  });

  it.each([undefined, null, 'look', { reason: 'look', draft: 1 }])('is not %j', (value) => {
    expect(isReview(value)).toBe(false);
  });
});
