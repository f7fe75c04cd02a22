import Qty from 'js-quantities';
import { Reject, z } from '../../contract';
import type { Row } from './row';

const figure = z.number().positive().nullable();

/**
 * The figures of a vehicle, in SI and the units accepted with it. Null when the row has none.
 * Rounded to about the precision of the source: litres to 0.01, kilowatts to 0.1, kilograms to 1, L/100 km to 0.1;
 * seconds are passed on as they are.
 */
export const figuresSchema = z.object({
  cylinders: z.int().positive().nullable(),
  displacementLitres: figure,
  powerKilowatts: figure,
  massKilograms: figure,
  fuelLitresPer100Km: figure,
  accelerationSeconds0To60Mph: figure,
});

export type Figures = z.output<typeof figuresSchema>;

interface Conversion {
  from: keyof Row;
  /** From the unit of the row to that of the result; NaN when the value makes no sense. */
  convert(value: number): number;
  decimals?: number;
}

const kilometresPerLitre = Qty.swiftConverter('mi/gal', 'km/l');

const CONVERSIONS: Record<keyof Figures, Conversion> = {
  cylinders: { from: 'Cylinders', convert: (count) => (Number.isInteger(count) ? count : NaN) },
  displacementLitres: { from: 'Displacement', convert: Qty.swiftConverter('in^3', 'l'), decimals: 2 },
  powerKilowatts: { from: 'Horsepower', convert: Qty.swiftConverter('hp', 'kW'), decimals: 1 },
  massKilograms: { from: 'Weight_in_lbs', convert: Qty.swiftConverter('lbs', 'kg'), decimals: 0 },
  // Distance per volume turns into volume per distance: a reciprocal, not a factor.
  fuelLitresPer100Km: { from: 'Miles_per_Gallon', convert: (mpg) => 100 / kilometresPerLitre(mpg), decimals: 1 },
  accelerationSeconds0To60Mph: { from: 'Acceleration', convert: (seconds) => seconds },
};

/** What feeds write for "not known". */
const ABSENT = new Set(['', '-', '?', 'na', 'n/a', 'nan', 'null', 'none']);

/** A value of the row as a number; null when it is absent, NaN when it is no number. */
function read(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const text = typeof value === 'string' ? value.trim() : '';
  if (ABSENT.has(text.toLowerCase())) return null;
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}

/**
 * Reads and converts the figures of a row. What is absent stays null, and `missing` names it; nothing is guessed.
 * @throws Reject `bad_figure` for a figure that is no number, or not above zero.
 */
export function readFigures(row: Row): { figures: Figures; missing: (keyof Figures)[] } {
  const figures: Partial<Figures> = {};
  const missing: (keyof Figures)[] = [];
  for (const [field, { from, convert, decimals }] of Object.entries(CONVERSIONS) as [keyof Figures, Conversion][]) {
    const value = read(row[from]);
    if (value === null) missing.push(field);
    const converted = value === null ? null : convert(value);
    const rounded = converted === null || decimals === undefined ? converted : Number(converted.toFixed(decimals));
    if (rounded !== null && !(rounded > 0 && Number.isFinite(rounded))) {
      throw new Reject(`${from} is not a figure above zero: ${JSON.stringify(row[from])}`, { code: 'bad_figure' });
    }
    figures[field] = rounded;
  }
  return { figures: figures as Figures, missing };
}
