import { definePayload, z, type Review } from '../../contract';
import { candidates } from './candidates';
import { figuresSchema, readFigures } from './figures';
import { modelYear } from './model-year';
import { resolveMake } from './resolve-make';
import { rowSchema, type Row } from './row';
import { tidyModel } from './tidy-model';

const resultSchema = z.object({
  make: z.string(),
  /** The rest of the name, cased as tidy-model.ts says; null when the name is the make alone. */
  model: z.string().nullable(),
  /** Present when the make was misspelt or a nickname. */
  nameCorrected: z.object({ from: z.string(), to: z.string() }).optional(),
  year: z.int(),
  origin: z.string().nullable(),
  ...figuresSchema.shape,
  /** The figures above that the row does not have. */
  missing: z.array(z.string()),
});

type Vehicle = z.output<typeof resultSchema>;

function normalize(row: Row, review: (reason: string, draft: unknown) => Review): Vehicle | Review {
  const year = modelYear(row.Year);
  const { figures, missing } = readFigures(row);
  const resolved = resolveMake(row.Name);
  if (!resolved) return review(`no make recognised in "${row.Name}"`, { candidates: candidates(row.Name) });
  const { make, from, rest, corrected } = resolved;
  return {
    make,
    model: tidyModel(rest),
    ...(corrected && { nameCorrected: { from, to: make } }),
    year,
    origin: row.Origin || null,
    ...figures,
    missing,
  };
}

/**
 * Brings a row of a vehicle feed into one form: the make spelt right, the figures in SI.
 * Fails with `bad_year` or `bad_figure`; a name without a recognisable make goes to a person, with candidates.
 */
export default definePayload({
  name: 'vehicle.normalize',
  version: 1,
  description: 'Corrects the make of a vehicle and converts its figures to SI.',
  vocabulary: [
    'vehicle',
    'car',
    'cars',
    'horsepower',
    'displacement',
    'cylinders',
    'mpg',
    'litres',
    'kilowatts',
    'kilograms',
    'chevrolet',
    'toyota',
    'volkswagen',
  ],
  input: rowSchema,
  result: resultSchema,
  async batches(ctx) {
    for await (const batch of ctx.batches({ size: 50 })) {
      for (const item of batch.items) {
        try {
          batch.settle(item, normalize(item.input, ctx.review));
        } catch (error) {
          // A bad row fails alone; the others of its batch are settled all the same.
          batch.settle(item, error as Error);
        }
      }
    }
  },
});
