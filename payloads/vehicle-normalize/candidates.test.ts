import { candidates } from './candidates';

const makes = (name: string): string[] => candidates(name).map((candidate) => candidate.make);

test.each([
  ['capri ii', ['Ford', 'Mercury']],
  ['hi 1200d', ['International Harvester']],
  ['colt gs', ['Dodge', 'Mitsubishi', 'Plymouth']],
  ['monte carlo landau', ['Chevrolet']],
  ['merc 190', ['Mercedes-Benz', 'Mercury']],
  ['brand new volvo', ['Volvo']],
  ['xyzzy', []],
])('%s', (name, expected) => {
  expect(makes(name)).toEqual(expected);
});

test('a short make that is one slip away is offered though it is not resolved', () => {
  expect(makes('fodr pinto')).toContain('Ford');
});

test('each candidate says why, and there are five at most', () => {
  expect(candidates('hi 1200d')).toEqual([{ make: 'International Harvester', why: '"ih" is 1 slip from "hi"' }]);
  expect(makes('camaro capri civic corolla golf jetta astra panda')).toHaveLength(5);
});
