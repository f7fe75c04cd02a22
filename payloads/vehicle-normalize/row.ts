import { z } from '../../contract';

/** A figure as feeds write it: a number, a number as text (CSV), or nothing. figures.ts reads it. */
const figure = z.union([z.number(), z.string().max(40)]).nullish();

/** One row of the feed. Unknown keys are ignored. */
export const rowSchema = z.object({
  Name: z.string().trim().min(1).max(200),
  /** Miles per US gallon. */
  Miles_per_Gallon: figure,
  Cylinders: figure,
  /** Cubic inches. */
  Displacement: figure,
  /** Mechanical horsepower. */
  Horsepower: figure,
  /** Pounds. */
  Weight_in_lbs: figure,
  /** Seconds from standstill to 60 mph. */
  Acceleration: figure,
  /** A date in the model year, such as `1970-01-01`. */
  Year: z.string().min(1).max(40),
  Origin: z.string().trim().max(100).nullish(),
});

export type Row = z.output<typeof rowSchema>;
