import { readFigures } from './figures';
import { rowSchema, type Row } from './row';

const malibu: Row = {
  Name: 'chevrolet chevelle malibu',
  Miles_per_Gallon: 18,
  Cylinders: 8,
  Displacement: 307,
  Horsepower: 130,
  Weight_in_lbs: 3504,
  Acceleration: 12.25,
  Year: '1970-01-01',
};

test('converts to SI, fuel reciprocally', () => {
  expect(readFigures(malibu)).toEqual({
    figures: {
      cylinders: 8,
      displacementLitres: 5.03,
      powerKilowatts: 96.9,
      massKilograms: 1589,
      fuelLitresPer100Km: 13.1,
      accelerationSeconds0To60Mph: 12.25,
    },
    missing: [],
  });
});

test('twice the miles per gallon is half the litres', () => {
  const litres = (mpg: number): number | null =>
    readFigures({ ...malibu, Miles_per_Gallon: mpg }).figures.fuelLitresPer100Km;
  expect([litres(10), litres(20), litres(40)]).toEqual([23.5, 11.8, 5.9]);
});

test('lists what is absent instead of inventing it', () => {
  const { figures, missing } = readFigures({
    ...malibu,
    Miles_per_Gallon: null,
    Horsepower: '?',
    Acceleration: undefined,
  });
  expect(missing).toEqual(['powerKilowatts', 'fuelLitresPer100Km', 'accelerationSeconds0To60Mph']);
  expect(figures).toMatchObject({ powerKilowatts: null, fuelLitresPer100Km: null, accelerationSeconds0To60Mph: null });
});

test('reads numbers as text, as a CSV has them', () => {
  const row = rowSchema.parse({ Name: 'x', Year: '1970', Horsepower: ' 130.0 ', Cylinders: '8', extra: 1 });
  expect(readFigures(row).figures).toMatchObject({ powerKilowatts: 96.9, cylinders: 8 });
});

test.each([
  ['Horsepower', 'strong'],
  ['Horsepower', '1,300'],
  ['Horsepower', '0x82'],
  ['Weight_in_lbs', -1],
  ['Miles_per_Gallon', 0],
  ['Miles_per_Gallon', 1e-320],
  ['Cylinders', 4.5],
])('%s %j is rejected', (field, value) => {
  const reject = expect.objectContaining({
    name: 'Reject',
    code: 'bad_figure',
    message: expect.stringContaining(field),
  });
  expect(() => readFigures({ ...malibu, [field]: value })).toThrow(reject);
});
