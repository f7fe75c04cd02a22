import { statusError } from './status-error';

test.each([200, 203, 299])('%i is no error', (status) => {
  expect(statusError(status, null)).toBeUndefined();
});

test.each([304, 400, 404, 410, 451])('%i is rejected', (status) => {
  expect(statusError(status, null)).toMatchObject({ name: 'Reject', code: `http_${status}` });
});

test.each([500, 502, 503, 599])('%i is a plain error', (status) => {
  expect(statusError(status, null)).toMatchObject({
    name: 'Error',
    code: `http_${status}`,
    message: `the server answered ${status}`,
  });
});

test.each([
  [429, null, 30_000],
  [429, '2', 2_000],
  [503, '2', 2_000],
  [503, 'soon', 30_000],
])('%i with Retry-After %j is deferred', (status, header, after) => {
  expect(statusError(status, header)).toMatchObject({ name: 'Defer', when: { after } });
});
