import { Reject } from '../../contract';

const FIRST_CAR = 1886;
const FARTHEST = 2100;

/**
 * The year of an ISO date (`1970-01-01`, with or without a time) or of a bare year (`1970`).
 * @throws Reject `bad_year` when it is no such date, the day does not exist, or no car is of that year.
 */
export function modelYear(date: string): number {
  const [, year, month = '01', day = '01'] = /^(\d{4})(?:-(\d{2})-(\d{2})(?:T.*)?)?$/.exec(date.trim()) ?? [];
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // A day that does not exist either is no date at all or rolls over into the next month.
  const exists = !Number.isNaN(midnight.getTime()) && midnight.getUTCDate() === Number(day);
  if (!exists || Number(year) < FIRST_CAR || Number(year) > FARTHEST) {
    throw new Reject(`Year is not a date: ${JSON.stringify(date.slice(0, 40))}`, { code: 'bad_year' });
  }
  return Number(year);
}
