import { modelYear } from './model-year';

test.each([
  ['1970-01-01', 1970],
  ['1982-12-31T23:59:59-11:00', 1982],
  [' 1976 ', 1976],
])('%s is of %i', (date, expected) => {
  expect(modelYear(date)).toBe(expected);
});

test.each(['', 'soon', '70', '1970-13-01', '1971-02-29', '01/02/1970', '1066-10-14', '9999'])(
  '%j is rejected',
  (date) => {
    expect(() => modelYear(date)).toThrow(expect.objectContaining({ name: 'Reject', code: 'bad_year' }));
  },
);
