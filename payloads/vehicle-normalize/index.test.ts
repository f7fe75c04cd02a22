import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runPayload, type ItemReport } from '../../testing';
import payload from './index';

/** Runs the rows through the payload; reports in the order of the rows. */
function normalize(rows: readonly unknown[]): Promise<ItemReport[]> {
  return runPayload(
    payload,
    rows.map((input, i) => ({ id: String(i), input })),
  );
}

const cars = JSON.parse(
  readFileSync(join(__dirname, '../../node_modules/vega-datasets/data/cars.json'), 'utf8'),
) as Record<string, unknown>[];
const malibu = cars[0];

/** The 406 cars, normalised once for the tests that look at them. */
let reports: ItemReport[];
let results: { nameCorrected?: { from: string; to: string }; missing: string[] }[];

beforeAll(async () => {
  reports = await normalize(cars);
  results = reports.flatMap(({ result }) => (result as (typeof results)[0] | undefined) ?? []);
});

test('the 406 cars: 404 succeed and two go to a person', () => {
  const reviews = reports.filter((report) => report.state === 'needs_review');
  expect([reports.length, results.length, reviews.length]).toEqual([406, 404, 2]);
  expect(reviews).toMatchObject([
    { reason: 'no make recognised in "hi 1200d"', draft: { candidates: [{ make: 'International Harvester' }] } },
    { reason: 'no make recognised in "capri ii"', draft: { candidates: [{ make: 'Ford' }, { make: 'Mercury' }] } },
  ]);
});

test('the 406 cars: exactly the misspelt makes and the nicknames are corrected', () => {
  const counts: Record<string, number> = {};
  for (const { nameCorrected } of results) {
    if (!nameCorrected) continue;
    const change = `${nameCorrected.from} > ${nameCorrected.to}`;
    counts[change] = (counts[change] ?? 0) + 1;
  }
  expect(counts).toEqual({
    'chevy > Chevrolet': 3,
    'chevroelt > Chevrolet': 1,
    'maxda > Mazda': 2,
    'mercedes benz > Mercedes-Benz': 1,
    'toyouta > Toyota': 1,
    'vokswagen > Volkswagen': 1,
    'vw > Volkswagen': 6,
  });
});

test('the 406 cars: what the data lacks is listed as missing, and nothing else', () => {
  const missing = results.flatMap((result) => result.missing);
  expect(missing.filter((field) => field === 'fuelLitresPer100Km')).toHaveLength(8);
  expect(missing.filter((field) => field === 'powerKilowatts')).toHaveLength(6);
  expect(missing).toHaveLength(14);
});

test('a row in full', async () => {
  const [report] = await normalize([{ ...malibu, Name: 'chevroelt  chevelle malibu' }]);
  expect(report!.result).toEqual({
    make: 'Chevrolet',
    model: 'Chevelle Malibu',
    nameCorrected: { from: 'chevroelt', to: 'Chevrolet' },
    year: 1970,
    origin: 'USA',
    cylinders: 8,
    displacementLitres: 5.03,
    powerKilowatts: 96.9,
    massKilograms: 1589,
    fuelLitresPer100Km: 13.1,
    accelerationSeconds0To60Mph: 12,
    missing: [],
  });
});

test('a bad row is rejected alone', async () => {
  const bad = [
    { ...malibu, Year: 'soon' },
    { ...malibu, Horsepower: 'strong' },
  ];
  expect(await normalize([malibu, ...bad, malibu])).toMatchObject([
    { state: 'succeeded' },
    { state: 'failed', attempts: 1, error: { code: 'bad_year' } },
    { state: 'failed', attempts: 1, error: { code: 'bad_figure' } },
    { state: 'succeeded' },
  ]);
});

test('a row needs a name and a year; the rest may be absent', async () => {
  const lacking = [{ Year: '1970' }, { Name: ' ', Year: '1970' }, { Name: 'ford' }];
  const [bare, ...refused] = await normalize([{ Name: 'ford', Year: '1970' }, ...lacking]);
  expect(bare!.result).toMatchObject({ make: 'Ford', model: null, origin: null, missing: { length: 6 } });
  for (const report of refused) expect(report).toMatchObject({ attempts: 0, error: { code: 'input_invalid' } });
});
