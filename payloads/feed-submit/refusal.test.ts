import { askRefusal, submitRefusal } from './refusal';

const answer = (status: number, retryAfter?: string, text = '') => ({ status, retryAfter, text });

describe.each([
  ['to a submission', submitRefusal],
  ['to a question', askRefusal],
])('an answer %s', (_, refusal) => {
  test.each([200, 201, 204])('%i is none', (status) => {
    expect(refusal(answer(status))).toBeUndefined();
  });

  test.each([
    [429, '7', 7_000],
    [503, '7', 7_000],
    [503, undefined, 30_000],
  ])('%i with Retry-After %s is deferred', (status, header, after) => {
    expect(refusal(answer(status, header))).toMatchObject({ name: 'Defer', when: { after } });
  });

  // A redirect too: the one after a POST may say that it was done.
  test.each([302, 500, 502, 504])('%i leaves open what was done', (status) => {
    expect(refusal(answer(status))).toMatchObject({ name: 'Error', code: `http_${status}` });
  });
});

test.each([400, 401, 404, 422])('%i rejects a submission, and is only an error of a question', (status) => {
  expect(submitRefusal(answer(status))).toMatchObject({ name: 'Reject', code: `http_${status}` });
  expect(askRefusal(answer(status))).toMatchObject({ name: 'Error', code: `http_${status}` });
});

test('the message has the vendor’s words, not all of them', () => {
  expect(submitRefusal(answer(422, undefined, '{ "error":\n "no price" }'))?.message).toBe(
    'the vendor answered 422: { "error": "no price" }',
  );
  expect(submitRefusal(answer(422, undefined, 'x'.repeat(5_000)))?.message).toHaveLength(225);
});
