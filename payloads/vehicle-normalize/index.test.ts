import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isReview, review, type BatchContext, type Item, type Review } from '../../contract';
import payload from './index';

type Answer = Record<string, unknown> | Review | Error;

/** Runs the rows through the payload as one batch; answers in the order of the rows. */
async function normalize(rows: unknown[]): Promise<Answer[]> {
  const items: Item[] = rows.map((row, i) => ({ id: String(i), input: payload.input.parse(row) }));
  const answers = new Map<Item, Answer>();
  const settle = (item: Item, answer: unknown): unknown => answers.set(item, answer as Answer);
  async function* batches(): AsyncGenerator<unknown> {
    yield { items, settle };
  }
  await payload.batches?.({ batches, review } as unknown as BatchContext);
  return items.map((item) => answers.get(item) as Answer);
}

const cars = JSON.parse(
  readFileSync(join(__dirname, '../../node_modules/vega-datasets/data/cars.json'), 'utf8'),
) as Record<string, unknown>[];
const malibu = cars[0];

test('the 406 cars: 404 succeed and two go to a person', async () => {
  const answers = await normalize(cars);
  const reviews = answers.filter(isReview);
  const results = answers.filter((answer) => !isReview(answer) && !(answer instanceof Error));
  expect([answers.length, results.length, reviews.length]).toEqual([406, 404, 2]);
  for (const result of results) payload.result.parse(result);
  expect(reviews).toMatchObject([
    { reason: 'no make recognised in "hi 1200d"', draft: { candidates: [{ make: 'International Harvester' }] } },
    { reason: 'no make recognised in "capri ii"', draft: { candidates: [{ make: 'Ford' }, { make: 'Mercury' }] } },
  ]);
});

test('the 406 cars: exactly the misspelt makes and the nicknames are corrected', async () => {
  const counts: Record<string, number> = {};
  for (const answer of await normalize(cars)) {
    const corrected = (answer as { nameCorrected?: { from: string; to: string } }).nameCorrected;
    if (corrected)
      counts[`${corrected.from} > ${corrected.to}`] = (counts[`${corrected.from} > ${corrected.to}`] ?? 0) + 1;
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

test('the 406 cars: what the data lacks is listed as missing, and nothing else', async () => {
  const missing = (await normalize(cars)).flatMap((answer) => (answer as { missing?: string[] }).missing ?? []);
  expect(missing.filter((field) => field === 'fuelLitresPer100Km')).toHaveLength(8);
  expect(missing.filter((field) => field === 'powerKilowatts')).toHaveLength(6);
  expect(missing).toHaveLength(14);
});

test('a row in full', async () => {
  expect(await normalize([{ ...malibu, Name: 'chevroelt  chevelle malibu' }])).toEqual([
    {
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
    },
  ]);
});

test('a bad row is rejected alone', async () => {
  const answers = await normalize([malibu, { ...malibu, Year: 'soon' }, { ...malibu, Horsepower: 'strong' }, malibu]);
  expect(answers).toMatchObject([
    { make: 'Chevrolet' },
    { code: 'bad_year' },
    { code: 'bad_figure' },
    { make: 'Chevrolet' },
  ]);
});

test('a row needs a name and a year; the rest may be absent', async () => {
  expect(payload.input.safeParse({ Year: '1970' }).success).toBe(false);
  expect(payload.input.safeParse({ Name: ' ', Year: '1970' }).success).toBe(false);
  expect(payload.input.safeParse({ Name: 'ford' }).success).toBe(false);
  const [bare] = await normalize([{ Name: 'ford', Year: '1970' }]);
  expect(bare).toMatchObject({ make: 'Ford', model: null, origin: null, missing: { length: 6 } });
});
