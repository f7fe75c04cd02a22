import { MAKES, type Make } from './makes';
import { MODELS } from './models';
import { SPELLINGS, resolveMake } from './resolve-make';

const makes = Object.keys(MAKES) as Make[];
/** Enough letters to collide with neighbours; the whole alphabet takes seconds. */
const LETTERS = [...'aehmrtvz'];

/** Words that one slip makes of `word`. */
function oneSlip(word: string): string[] {
  return [...word].flatMap((_, i) => [
    word.slice(0, i) + word.slice(i + 1),
    word.slice(0, i) + word.charAt(i + 1) + word.charAt(i) + word.slice(i + 2),
    ...LETTERS.flatMap((letter) => [
      word.slice(0, i) + letter + word.slice(i + 1),
      word.slice(0, i) + letter + word.slice(i),
    ]),
  ]);
}

test.each([
  ['chevrolet impala', 'Chevrolet', 'impala', false],
  ['AMC gremlin', 'AMC', 'gremlin', false],
  ['citroen ds-21 pallas', 'Citroën', 'ds-21 pallas', false],
  ['mercedes-benz 280s', 'Mercedes-Benz', '280s', false],
  ['mercedes benz 300d', 'Mercedes-Benz', '300d', true],
  ['mercedes 240d', 'Mercedes-Benz', '240d', true],
  ['chevy c10', 'Chevrolet', 'c10', true],
  ['vw rabbit', 'Volkswagen', 'rabbit', true],
  ['vokswagen rabbit', 'Volkswagen', 'rabbit', true],
  ['toyouta corona', 'Toyota', 'corona', true],
  ['maxda rx3', 'Mazda', 'rx3', true],
  ['chevroelt chevelle', 'Chevrolet', 'chevelle', true],
  ['land rover defender', 'Land Rover', 'defender', false],
  ['rover 75', 'Rover', '75', false],
  ['buick opel isuzu deluxe', 'Buick', 'opel isuzu deluxe', false],
  ['subaru', 'Subaru', '', false],
  ['oldsmobil 8', 'Oldsmobile', '8', true],
])('%s', (name, make, rest, corrected) => {
  expect(resolveMake(name)).toMatchObject({ make, rest, corrected });
});

test.each(['hi 1200d', 'capri ii', 'fort pinto', 'fodr pinto', 'merc 190', 'mada 2', 'the', '', '???'])(
  '%s has no make',
  (name) => {
    expect(resolveMake(name)).toBeUndefined();
  },
);

test('every make is itself', () => {
  for (const make of makes) expect(resolveMake(make)).toMatchObject({ make, corrected: false, rest: '' });
});

test('a slip in a make never gives another make, unless it spells that one out (chery, chevy)', () => {
  const astray: string[] = [];
  for (const make of makes.filter((name) => /^[a-z]+$/i.test(name))) {
    for (const written of new Set(oneSlip(make.toLowerCase()))) {
      const found = SPELLINGS.has(written) ? undefined : resolveMake(written);
      if (found && found.make !== make) astray.push(`${make}: ${written} gives ${found.make}`);
    }
  }
  expect(astray).toEqual([]);
});

test('no model is taken for a misspelt make, however close (cherry, Chery)', () => {
  for (const model of MODELS.keys()) expect([model, resolveMake(model)?.make]).toEqual([model, undefined]);
});
