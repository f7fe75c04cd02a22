import { tidyModel } from './tidy-model';

test.each([
  ['chevelle malibu', 'Chevelle Malibu'],
  ['  monte   carlo s ', 'Monte Carlo S'],
  ['rx-4', 'RX-4'],
  ['ds-21 pallas', 'DS-21 Pallas'],
  ['100ls', '100LS'],
  ['320i', '320i'],
  ['ltd', 'LTD'],
  ['fury iii', 'Fury III'],
  ['concord d/l', 'Concord D/L'],
  ['chevelle concours (sw)', 'Chevelle Concours (SW)'],
  ['regal sport coupe (turbo)', 'Regal Sport Coupe (Turbo)'],
  ['cavalier 2-door', 'Cavalier 2-Door'],
  ["'cuda 340", "'Cuda 340"],
  ['st. regis', 'St. Regis'],
  ['coupe de ville', 'Coupe De Ville'],
  ['civic cvcc', 'Civic CVCC'],
  ['LeSabre custom', 'LeSabre Custom'],
  ['MUSTANG II 2+2', 'Mustang II 2+2'],
  ['', null],
  ['  ', null],
])('%j -> %j', (rest, expected) => {
  expect(tidyModel(rest)).toBe(expected);
});
