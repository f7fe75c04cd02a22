import { fold, plain, slips } from './spelling';

test('plain drops case and diacritics, and keeps hyphens', () => {
  expect(plain('Citroën')).toBe('citroen');
  expect(plain('Mercedes-Benz')).toBe('mercedes-benz');
});

test('fold makes hyphens, full stops and runs of spaces irrelevant', () => {
  expect(fold('Mercedes-Benz')).toBe(fold(' mercedes  BENZ '));
  expect(fold('A.M.C.')).toBe('amc');
});

test.each([
  ['ford', 'ford', 0],
  ['maxda', 'mazda', 1],
  ['toyouta', 'toyota', 1],
  ['vokswagen', 'volkswagen', 1],
  ['chevroelt', 'chevrolet', 1],
  ['hi', 'ih', 1],
  ['ford', 'fiat', 3],
  ['x'.repeat(200), 'ford', Infinity],
])('%s is as many slips from %s as a person would say', (written, meant, expected) => {
  expect(slips(written, meant)).toBe(expected);
});
